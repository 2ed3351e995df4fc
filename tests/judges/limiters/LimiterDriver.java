import java.io.BufferedInputStream;
import java.io.BufferedOutputStream;
import java.io.DataInputStream;
import java.io.DataOutputStream;
import java.io.EOFException;
import java.io.FileDescriptor;
import java.io.FileOutputStream;
import java.lang.reflect.Field;
import java.lang.reflect.Proxy;
import java.util.PriorityQueue;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.ScheduledFuture;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.LongAdder;
import org.apache.pulsar.broker.PulsarService;
import org.apache.pulsar.broker.ServiceConfiguration;
import org.apache.pulsar.broker.qos.AsyncTokenBucket;
import org.apache.pulsar.broker.qos.MonotonicClock;
import org.apache.pulsar.broker.service.BrokerService;
import org.apache.pulsar.broker.service.persistent.DispatchRateLimiter;
import org.apache.pulsar.broker.service.persistent.DispatchRateLimiterAsyncTokenBucketImpl;
import org.apache.pulsar.broker.service.persistent.DispatchRateLimiterClassicImpl;
import org.apache.pulsar.common.policies.data.DispatchRate;
import org.apache.pulsar.common.util.RateLimiter;

/**
 * Plays operations on Pulsar's own limiter classes, on a clock of its own.
 *
 * <p>In, on standard input: records of five big-endian longs: kind, time in nanoseconds, and three arguments. Out, on standard
 * output: for each record ten longs, five per meter (messages, bytes): the answer of a query or -2, and the meter's state.
 */
public final class LimiterDriver {
    private static final int NEW = 0;
    private static final int QUERY = 1;
    private static final int CHARGE = 2;
    private static final int UPDATE = 3;
    private static final long NO_ANSWER = -2;
    /** State of a meter that does not exist, and of a timer that does not run. */
    private static final long NONE = -1;

    private static long nowNanos;
    private static final PriorityQueue<Timer> TIMERS =
            new PriorityQueue<>((a, b) -> Long.compare(a.dueNanos, b.dueNanos));

    /** A task of {@code scheduleAtFixedRate} on this clock. */
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
                timer.dueNanos += timer.periodNanos;
                TIMERS.add(timer);
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

    private static DispatchRate rate(long messages, long bytes, long periodSeconds) {
        return DispatchRate.builder()
                .dispatchThrottlingRateInMsg((int) messages)
                .dispatchThrottlingRateInByte(bytes)
                .ratePeriodInSecond((int) periodSeconds)
                .build();
    }

    public static void main(String[] arguments) throws Exception {
        // Brokers log to standard output.
        System.setOut(System.err);
        boolean classic = arguments[0].equals("classic");
        Pulsar.configuration = new ServiceConfiguration();
        BrokerService broker = (BrokerService) allocate(BrokerService.class);
        field(BrokerService.class, "pulsar").set(broker, allocate(Pulsar.class));

        Class<?> owner = classic ? DispatchRateLimiterClassicImpl.class : DispatchRateLimiterAsyncTokenBucketImpl.class;
        Field[] meters = {field(owner, "dispatchRateLimiterOnMessage"), field(owner, "dispatchRateLimiterOnByte")};
        Meter state = classic ? new ClassicState() : new BucketState();

        DataInputStream in = new DataInputStream(new BufferedInputStream(System.in, 1 << 16));
        DataOutputStream out = new DataOutputStream(new BufferedOutputStream(new FileOutputStream(FileDescriptor.out), 1 << 16));
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
            long[] answers = {NO_ANSWER, NO_ANSWER};
            if (kind == NEW) {
                TIMERS.clear();
                limiter = classic
                        ? new DispatchRateLimiterClassicImpl(broker)
                        : new DispatchRateLimiterAsyncTokenBucketImpl(broker);
                limiter.updateDispatchRate(rate(first, second, third));
            } else if (kind == QUERY) {
                answers[0] = limiter.getAvailableDispatchRateLimitOnMsg();
                answers[1] = limiter.getAvailableDispatchRateLimitOnByte();
            } else if (kind == CHARGE) {
                limiter.consumeDispatchQuota(first, second);
            } else if (kind == UPDATE) {
                limiter.updateDispatchRate(rate(first, second, third));
            } else {
                throw new IllegalArgumentException("kind " + kind);
            }
            for (int meter = 0; meter < 2; meter++) {
                out.writeLong(answers[meter]);
                state.write(out, meters[meter].get(limiter));
            }
        }
        out.flush();
    }

    /** Writes four longs: what was used or is left, what is pending, the last or next refill, the rest of a refill. */
    private interface Meter {
        void write(DataOutputStream out, Object meter) throws Exception;
    }

    private static void none(DataOutputStream out) throws Exception {
        for (int column = 0; column < 4; column++) {
            out.writeLong(NONE);
        }
    }

    private static final class BucketState implements Meter {
        private final Field tokens = field(AsyncTokenBucket.class, "tokens");
        private final Field pending = field(AsyncTokenBucket.class, "pendingConsumedTokens");
        private final Field last = field(AsyncTokenBucket.class, "lastNanos");
        private final Field remainder = field(AsyncTokenBucket.class, "remainderNanos");

        BucketState() throws Exception {
        }

        @Override
        public void write(DataOutputStream out, Object meter) throws Exception {
            if (meter == null) {
                none(out);
                return;
            }
            out.writeLong(tokens.getLong(meter));
            out.writeLong(((LongAdder) pending.get(meter)).sum());
            out.writeLong(last.getLong(meter));
            out.writeLong(remainder.getLong(meter));
        }
    }

    private static final class ClassicState implements Meter {
        private final Field acquired = field(RateLimiter.class, "acquiredPermits");
        private final Field task = field(RateLimiter.class, "renewTask");

        ClassicState() throws Exception {
        }

        @Override
        public void write(DataOutputStream out, Object meter) throws Exception {
            if (meter == null) {
                none(out);
                return;
            }
            out.writeLong(acquired.getLong(meter));
            out.writeLong(0);
            out.writeLong(due(task.get(meter)));
            out.writeLong(0);
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
