import io.netty.channel.EventLoop;
import io.netty.channel.EventLoopGroup;
import java.io.BufferedInputStream;
import java.io.BufferedOutputStream;
import java.io.DataInputStream;
import java.io.DataOutputStream;
import java.io.EOFException;
import java.io.FileDescriptor;
import java.io.FileOutputStream;
import java.lang.reflect.Constructor;
import java.lang.reflect.Field;
import java.lang.reflect.Proxy;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.PriorityQueue;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.ScheduledFuture;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.LongAdder;
import java.util.function.Consumer;
import org.apache.pulsar.broker.PulsarService;
import org.apache.pulsar.broker.ServiceConfiguration;
import org.apache.pulsar.broker.qos.AsyncTokenBucket;
import org.apache.pulsar.broker.qos.MonotonicClock;
import org.apache.pulsar.broker.service.BrokerService;
import org.apache.pulsar.broker.service.Producer;
import org.apache.pulsar.broker.service.PublishRateLimiterImpl;
import org.apache.pulsar.broker.service.TransportCnx;
import org.apache.pulsar.broker.service.persistent.DispatchRateLimiter;
import org.apache.pulsar.broker.service.persistent.DispatchRateLimiterAsyncTokenBucketImpl;
import org.apache.pulsar.broker.service.persistent.DispatchRateLimiterClassicImpl;
import org.apache.pulsar.broker.service.persistent.PersistentTopic;
import org.apache.pulsar.common.policies.data.DispatchRate;
import org.apache.pulsar.common.policies.data.PublishRate;
import org.apache.pulsar.common.util.RateLimiter;

/**
 * Plays operations on Pulsar's own limiter classes, on a clock of its own.
 *
 * <p>In, on standard input: records of six big-endian longs: kind, time in nanoseconds, and four arguments. Out, on standard
 * output: for each record ten longs, five per meter (messages, bytes): the answer of a query or -2, and the meter's state.
 * The answer of an entry that is published is the time at which it was accepted, or -1; its state is what it left.
 */
public final class LimiterDriver {
    private static final int NEW = 0;
    private static final int QUERY = 1;
    private static final int CHARGE = 2;
    private static final int UPDATE = 3;
    private static final int FOLLOW = 4;
    private static final int PUBLISH = 5;
    /** A one-shot timer takes at least so long: at high rates the publish limiter asks for pauses of a few nanoseconds. */
    private static final long SHORTEST_NANOS = 50_000;
    private static final long NO_ANSWER = -2;
    /** State of a meter that does not exist, and of a timer that does not run. */
    private static final long NONE = -1;

    private static long nowNanos;
    private static final PriorityQueue<Timer> TIMERS =
            new PriorityQueue<>((a, b) -> Long.compare(a.dueNanos, b.dueNanos));

    /** A task of {@code scheduleAtFixedRate}, or with a period of 0 one of {@code schedule}, on this clock. */
    private static final class Timer {
        final Runnable task;
        final long periodNanos;
        final Object future;
        long dueNanos;
        boolean cancelled;

        Timer(Runnable task, long delayNanos, long periodNanos) {
            this.task = task;
            this.periodNanos = periodNanos;
            this.dueNanos = nowNanos + delayNanos;
            this.future = Proxy.newProxyInstance(
                    LimiterDriver.class.getClassLoader(), new Class<?>[] {ScheduledFuture.class},
                    (proxy, method, arguments) -> {
                        if (method.getName().equals("cancel")) {
                            cancelled = true;
                            return true;
                        }
                        return refuse(method.getName());
                    });
        }
    }

    private static Object refuse(String method) {
        throw new UnsupportedOperationException(method + " is not part of the driver");
    }

    private static void advance(long toNanos) {
        while (!TIMERS.isEmpty() && TIMERS.peek().dueNanos <= toNanos) {
            Timer timer = TIMERS.poll();
            if (!timer.cancelled) {
                nowNanos = timer.dueNanos;
                timer.task.run();
                if (timer.periodNanos > 0) {
                    timer.dueNanos += timer.periodNanos;
                    TIMERS.add(timer);
                }
            }
        }
        nowNanos = toNanos;
    }

    private static final ScheduledExecutorService SCHEDULER = (ScheduledExecutorService) Proxy.newProxyInstance(
            LimiterDriver.class.getClassLoader(), new Class<?>[] {ScheduledExecutorService.class},
            (proxy, method, arguments) -> {
                if (!method.getName().equals("scheduleAtFixedRate")) {
                    return refuse(method.getName());
                }
                TimeUnit unit = (TimeUnit) arguments[3];
                Timer timer = new Timer(
                        (Runnable) arguments[0], unit.toNanos((long) arguments[1]), unit.toNanos((long) arguments[2]));
                TIMERS.add(timer);
                return timer.future;
            });

    /** A broker of which a limiter sees its configuration, its clock and its scheduler; no constructor of a broker runs. */
    private static final class Pulsar extends PulsarService {
        private static ServiceConfiguration configuration;

        private Pulsar() {
            super(null);
        }

        @Override
        public ServiceConfiguration getConfiguration() {
            return configuration;
        }

        @Override
        public MonotonicClock getMonotonicClock() {
            return () -> nowNanos;
        }

        @Override
        public ScheduledExecutorService getExecutor() {
            return SCHEDULER;
        }
    }

    private static Object allocate(Class<?> type) throws Exception {
        Field field = sun.misc.Unsafe.class.getDeclaredField("theUnsafe");
        field.setAccessible(true);
        return ((sun.misc.Unsafe) field.get(null)).allocateInstance(type);
    }

    private static Field field(Class<?> type, String name) throws Exception {
        Field field = type.getDeclaredField(name);
        field.setAccessible(true);
        return field;
    }

    private static DispatchRate rate(long messages, long bytes, long periodSeconds, boolean relative) {
        return DispatchRate.builder()
                .dispatchThrottlingRateInMsg((int) messages)
                .dispatchThrottlingRateInByte(bytes)
                .ratePeriodInSecond((int) periodSeconds)
                .relativeToPublishRate(relative)
                .build();
    }

    public static void main(String[] arguments) throws Exception {
        // Brokers log to standard output.
        System.setOut(System.err);
        if (arguments[0].equals("publish")) {
            new Publishing().play();
            return;
        }
        boolean classic = arguments[0].equals("classic");
        Pulsar.configuration = new ServiceConfiguration();
        BrokerService broker = (BrokerService) allocate(BrokerService.class);
        field(BrokerService.class, "pulsar").set(broker, allocate(Pulsar.class));

        Class<?> owner = classic ? DispatchRateLimiterClassicImpl.class : DispatchRateLimiterAsyncTokenBucketImpl.class;
        Field[] meters = {field(owner, "dispatchRateLimiterOnMessage"), field(owner, "dispatchRateLimiterOnByte")};
        Meter state = classic ? new ClassicState() : new BucketState();
        // A topic of which a limiter sees its average publish rates.
        PersistentTopic topic = (PersistentTopic) allocate(PersistentTopic.class);
        Field topicOfLimiter = field(DispatchRateLimiter.class, "topic");
        Field averageMessages = field(PersistentTopic.class, "lastUpdatedAvgPublishRateInMsg");
        Field averageBytes = field(PersistentTopic.class, "lastUpdatedAvgPublishRateInByte");

        DataInputStream in = input();
        DataOutputStream out = output();
        DispatchRateLimiter limiter = null;
        while (true) {
            long kind;
            try {
                kind = in.readLong();
            } catch (EOFException end) {
                break;
            }
            advance(in.readLong());
            long first = in.readLong();
            long second = in.readLong();
            long third = in.readLong();
            boolean relative = in.readLong() == 1;
            long[] answers = {NO_ANSWER, NO_ANSWER};
            if (kind == NEW) {
                TIMERS.clear();
                limiter = classic
                        ? new DispatchRateLimiterClassicImpl(broker)
                        : new DispatchRateLimiterAsyncTokenBucketImpl(broker);
                topicOfLimiter.set(limiter, topic);
                limiter.updateDispatchRate(rate(first, second, third, relative));
            } else if (kind == QUERY) {
                answers[0] = limiter.getAvailableDispatchRateLimitOnMsg();
                answers[1] = limiter.getAvailableDispatchRateLimitOnByte();
            } else if (kind == CHARGE) {
                limiter.consumeDispatchQuota(first, second);
            } else if (kind == UPDATE) {
                limiter.updateDispatchRate(rate(first, second, third, relative));
            } else if (kind == FOLLOW) {
                averageMessages.setDouble(topic, first);
                averageBytes.setDouble(topic, second);
            } else {
                throw new IllegalArgumentException("kind " + kind);
            }
            long[] row = new long[10];
            for (int meter = 0; meter < 2; meter++) {
                row[5 * meter] = answers[meter];
                state.fill(row, 5 * meter + 1, meters[meter].get(limiter));
            }
            write(out, row);
        }
        out.flush();
    }

    private static void write(DataOutputStream out, long[] row) throws Exception {
        for (long value : row) {
            out.writeLong(value);
        }
    }

    private static DataInputStream input() {
        return new DataInputStream(new BufferedInputStream(System.in, 1 << 16));
    }

    private static DataOutputStream output() {
        return new DataOutputStream(new BufferedOutputStream(new FileOutputStream(FileDescriptor.out), 1 << 16));
    }

    /** Producers that send when an entry is due and their connection is read, and a publish limiter that stops the reading. */
    private static final class Publishing {
        private final BucketState state = new BucketState();
        private final Field[] meters = {
            field(PublishRateLimiterImpl.class, "tokenBucketOnMessage"), field(PublishRateLimiterImpl.class, "tokenBucketOnByte")
        };
        private final BrokerService broker = (BrokerService) allocate(BrokerService.class);
        private final DataOutputStream out = output();
        private final Records records = new Records();
        private PublishRateLimiterImpl limiter;
        private Connection[] connections = {};
        private long turns;

        Publishing() throws Exception {
            field(BrokerService.class, "workerGroup").set(broker, group());
        }

        /** A connection with one producer: how often it was stopped, and what is due and not yet accepted. */
        private final class Connection {
            final Producer producer = (Producer) allocate(Producer.class);
            final ArrayDeque<long[]> due = new ArrayDeque<>();
            int stopped;
            /** When it sent last, among all connections: the limiter keeps those that it stops in this order. */
            long turn;

            Connection() throws Exception {
                field(Producer.class, "cnx").set(producer, Proxy.newProxyInstance(
                        LimiterDriver.class.getClassLoader(), new Class<?>[] {TransportCnx.class},
                        (proxy, method, arguments) -> switch (method.getName()) {
                            case "getBrokerService" -> broker;
                            case "incrementThrottleCount" -> change(1);
                            case "decrementThrottleCount" -> change(-1);
                            case "execute" -> run((Runnable) arguments[0]);
                            default -> refuse(method.getName());
                        }));
            }

            private Object change(int by) {
                stopped += by;
                return null;
            }

            private Object run(Runnable task) {
                task.run();
                return null;
            }

            boolean sends() {
                return stopped == 0 && !due.isEmpty();
            }

            void send() throws Exception {
                long[] entry = due.poll();
                turn = ++turns;
                limiter.handlePublishThrottling(producer, (int) entry[1], entry[2]);
                records.set((int) entry[0], nowNanos);
            }
        }

        /** What is written for the operations of one limiter; entries are accepted later than they are due. */
        private final class Records {
            private final List<long[]> rows = new ArrayList<>();

            int add() {
                long[] row = new long[10];
                Arrays.fill(row, NONE);
                rows.add(row);
                return rows.size() - 1;
            }

            void set(int row, long answer) throws Exception {
                for (int meter = 0; meter < 2; meter++) {
                    rows.get(row)[5 * meter] = answer;
                    state.fill(rows.get(row), 5 * meter + 1, limiter == null ? null : meters[meter].get(limiter));
                }
            }

            void write() throws Exception {
                for (long[] row : rows) {
                    LimiterDriver.write(out, row);
                }
                rows.clear();
            }
        }

        private Object group() {
            Object loop = Proxy.newProxyInstance(
                    LimiterDriver.class.getClassLoader(), new Class<?>[] {EventLoop.class},
                    (proxy, method, arguments) -> {
                        if (!method.getName().equals("schedule")) {
                            return refuse(method.getName());
                        }
                        Runnable task = (Runnable) arguments[0];
                        long delay = ((TimeUnit) arguments[2]).toNanos((long) arguments[1]);
                        Timer timer = new Timer(() -> unthrottle(task), Math.max(SHORTEST_NANOS, delay), 0);
                        TIMERS.add(timer);
                        return timer.future;
                    });
            return Proxy.newProxyInstance(
                    LimiterDriver.class.getClassLoader(), new Class<?>[] {EventLoopGroup.class},
                    (proxy, method, arguments) -> method.getName().equals("next") ? loop : refuse(method.getName()));
        }

        /** A connection is read by its own event loop, after the limiter's task: one entry of each, in the order of their turns. */
        private void unthrottle(Runnable task) {
            task.run();
            try {
                sendAll();
            } catch (Exception error) {
                throw new IllegalStateException(error);
            }
        }

        private void sendAll() throws Exception {
            while (true) {
                Connection next = null;
                for (Connection one : connections) {
                    if (one.sends() && (next == null || one.turn < next.turn)) {
                        next = one;
                    }
                }
                if (next == null) {
                    return;
                }
                next.send();
            }
        }

        private PublishRateLimiterImpl newLimiter() throws Exception {
            MonotonicClock clock = () -> nowNanos;
            Constructor<?> made = PublishRateLimiterImpl.class.getConstructors()[0];
            if (made.getParameterCount() == 1) {
                return (PublishRateLimiterImpl) made.newInstance(clock);
            }
            // From 4.2 on a limiter is told what stops and resumes a producer.
            Consumer<Producer> stop = producer -> of(producer).change(1);
            Consumer<Producer> resume = producer -> of(producer).change(-1);
            return (PublishRateLimiterImpl) made.newInstance(clock, stop, resume);
        }

        private Connection of(Producer producer) {
            for (Connection one : connections) {
                if (one.producer == producer) {
                    return one;
                }
            }
            throw new IllegalStateException("a producer of another limiter");
        }

        void play() throws Exception {
            DataInputStream in = input();
            while (true) {
                long kind;
                try {
                    kind = in.readLong();
                } catch (EOFException end) {
                    break;
                }
                long at = in.readLong();
                long first = in.readLong();
                long second = in.readLong();
                long third = in.readLong();
                in.readLong();
                if (kind == NEW) {
                    advance(at - 1);
                    nowNanos = at;
                    TIMERS.clear();
                    records.write();
                    limiter = newLimiter();
                    limiter.update(new PublishRate((int) first, second));
                    connections = new Connection[(int) third];
                    for (int number = 0; number < connections.length; number++) {
                        connections[number] = new Connection();
                    }
                    records.set(records.add(), NO_ANSWER);
                } else if (kind == PUBLISH) {
                    advance(at);
                    Connection connection = connections[(int) first];
                    connection.due.add(new long[] {records.add(), second, third});
                    sendAll();
                } else {
                    throw new IllegalArgumentException("kind " + kind);
                }
            }
            records.write();
            out.flush();
        }
    }

    /** Fills four places: what was used or is left, what is pending, the last or next refill, the rest of a refill. */
    private interface Meter {
        void fill(long[] row, int at, Object meter) throws Exception;
    }

    private static final class BucketState implements Meter {
        private final Field tokens = field(AsyncTokenBucket.class, "tokens");
        private final Field pending = field(AsyncTokenBucket.class, "pendingConsumedTokens");
        private final Field last = field(AsyncTokenBucket.class, "lastNanos");
        private final Field remainder = field(AsyncTokenBucket.class, "remainderNanos");

        BucketState() throws Exception {
        }

        @Override
        public void fill(long[] row, int at, Object meter) throws Exception {
            if (meter == null) {
                Arrays.fill(row, at, at + 4, NONE);
                return;
            }
            row[at] = tokens.getLong(meter);
            row[at + 1] = ((LongAdder) pending.get(meter)).sum();
            row[at + 2] = last.getLong(meter);
            row[at + 3] = remainder.getLong(meter);
        }
    }

    private static final class ClassicState implements Meter {
        private final Field acquired = field(RateLimiter.class, "acquiredPermits");
        private final Field task = field(RateLimiter.class, "renewTask");

        ClassicState() throws Exception {
        }

        @Override
        public void fill(long[] row, int at, Object meter) throws Exception {
            Arrays.fill(row, at, at + 4, meter == null ? NONE : 0);
            if (meter != null) {
                row[at] = acquired.getLong(meter);
                row[at + 2] = due(task.get(meter));
            }
        }

        private static long due(Object future) {
            for (Timer timer : TIMERS) {
                if (timer.future == future && !timer.cancelled) {
                    return timer.dueNanos;
                }
            }
            return NONE;
        }
    }
}
