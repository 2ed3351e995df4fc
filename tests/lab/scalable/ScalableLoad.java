import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.ObjectNode;
import java.io.BufferedReader;
import java.io.File;
import java.io.InputStreamReader;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.Callable;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.locks.LockSupport;
import java.util.function.Consumer;
import org.apache.pulsar.client.api.v5.Message;
import org.apache.pulsar.client.api.v5.MessageId;
import org.apache.pulsar.client.api.v5.Producer;
import org.apache.pulsar.client.api.v5.PulsarClient;
import org.apache.pulsar.client.api.v5.QueueConsumer;
import org.apache.pulsar.client.api.v5.StreamConsumer;
import org.apache.pulsar.client.api.v5.config.BatchingPolicy;
import org.apache.pulsar.client.api.v5.config.SubscriptionInitialPosition;
import org.apache.pulsar.client.api.v5.schema.Schema;

/**
 * Producers and consumers of scalable topics: in, a plan file and commands on standard input; out, one answer per command.
 *
 * <p>The plan is JSON: {@code {"service_url", "topics": [{"name", "topic", "subscription", "kind", "consumers", "processing_ms",
 * "rate_msg", "size_bytes", "batch_messages"}]}}. Commands are JSON lines {@code {"id", "scenario", "action", ...}} with a topic's name as
 * scenario: {@code connect}, {@code start} (at_s), {@code set_processing} (processing_ms), {@code stop}.
 */
public final class ScalableLoad {
    private static final ObjectMapper JSON = new ObjectMapper();
    private static final Duration POLL = Duration.ofMillis(500);

    public static void main(String[] arguments) throws Exception {
        JsonNode plan = JSON.readTree(new File(arguments[0]));
        PrintStream answers = new PrintStream(System.out, true, StandardCharsets.UTF_8);
        try (PulsarClient client = PulsarClient.builder().serviceUrl(plan.get("service_url").asText()).build()) {
            Map<String, TopicLoad> loads = new LinkedHashMap<>();
            for (JsonNode topic : plan.get("topics")) {
                loads.put(topic.get("name").asText(), new TopicLoad(client, topic));
            }
            BufferedReader commands = new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8));
            for (String line = commands.readLine(); line != null; line = commands.readLine()) {
                answers.println(answer(loads, JSON.readTree(line)));
            }
        }
        System.exit(0);
    }

    private static ObjectNode answer(Map<String, TopicLoad> loads, JsonNode command) {
        ObjectNode answer = JSON.createObjectNode();
        answer.set("id", command.get("id"));
        answer.putNull("error");
        TopicLoad load = loads.get(command.get("scenario").asText());
        try {
            load.run(command);
        } catch (Exception error) {
            answer.put("error", error.toString());
        }
        answer.set("report", load.report());
        return answer;
    }

    /** One topic: a paced producer and the consumers of one subscription. */
    private static final class TopicLoad {
        private final PulsarClient client;
        private final JsonNode plan;
        private final List<AutoCloseable> open = new ArrayList<>();
        private final AtomicLong scheduled = new AtomicLong();
        private final AtomicLong persisted = new AtomicLong();
        private final AtomicLong failed = new AtomicLong();
        private final AtomicLong received = new AtomicLong();
        private final AtomicLong acknowledged = new AtomicLong();
        private final AtomicLong errors = new AtomicLong();
        private Producer<byte[]> producer;
        private volatile double processingMs;
        private volatile boolean stopping;

        TopicLoad(PulsarClient client, JsonNode plan) {
            this.client = client;
            this.plan = plan;
            this.processingMs = plan.get("processing_ms").asDouble();
        }

        void run(JsonNode command) throws Exception {
            switch (command.get("action").asText()) {
                case "connect" -> connect();
                case "start" -> start(command.get("at_s").asDouble());
                case "set_processing" -> processingMs = command.get("processing_ms").asDouble();
                case "stop" -> stop();
                default -> throw new IllegalArgumentException("unknown action " + command.get("action").asText());
            }
        }

        private void connect() throws Exception {
            for (int number = 0; number < plan.get("consumers").asInt(); number++) {
                Source source = plan.get("kind").asText().equals("stream") ? stream(number) : queue(number);
                open.add(source.consumer());
                daemon(() -> consume(source));
            }
            int inBatch = plan.get("batch_messages").asInt();
            BatchingPolicy batching = inBatch > 1
                    ? BatchingPolicy.builder().maxMessages(inBatch).maxPublishDelay(batchDelay(inBatch)).build()
                    : BatchingPolicy.ofDisabled();
            producer = client.newProducer(Schema.bytes()).topic(topic()).batchingPolicy(batching).create();
            open.add(producer);
        }

        /** A batch closes when it is full: this is half as long again. Each segment has a batch of its own. */
        private Duration batchDelay(int inBatch) {
            return Duration.ofMillis(Math.round(1500 * inBatch * plan.get("segments").asInt() / plan.get("rate_msg").asDouble()));
        }

        private void start(double atSeconds) {
            daemon(() -> produce(atSeconds));
        }

        private void stop() throws Exception {
            stopping = true;
            for (AutoCloseable one : open) {
                one.close();
            }
        }

        private void produce(double atSeconds) {
            double rate = plan.get("rate_msg").asDouble();
            byte[] body = new byte[plan.get("size_bytes").asInt()];
            long startNs = System.nanoTime() + Math.round((atSeconds - System.currentTimeMillis() / 1000.0) * 1e9);
            for (long number = 0; rate > 0 && !stopping; number++) {
                long dueNs = startNs + Math.round(number / rate * 1e9);
                while (!stopping && System.nanoTime() < dueNs) {
                    LockSupport.parkNanos(Math.min(dueNs - System.nanoTime(), 100_000_000L));
                }
                scheduled.incrementAndGet();
                producer.async().newMessage().value(body).send().whenComplete((id, error) -> {
                    (error == null ? persisted : failed).incrementAndGet();
                });
            }
        }

        private void consume(Source source) {
            while (!stopping) {
                try {
                    Message<byte[]> message = source.receive().call();
                    if (message != null) {
                        received.incrementAndGet();
                        process();
                        source.acknowledge().accept(message.id());
                        acknowledged.incrementAndGet();
                    }
                } catch (Exception error) {
                    errors.incrementAndGet();
                    LockSupport.parkNanos(100_000_000L);
                }
            }
        }

        private void process() {
            long untilNs = System.nanoTime() + Math.round(processingMs * 1e6);
            while (!stopping && System.nanoTime() < untilNs) {
                LockSupport.parkNanos(untilNs - System.nanoTime());
            }
        }

        private Source queue(int number) throws Exception {
            QueueConsumer<byte[]> consumer = client.newQueueConsumer(Schema.bytes()).topic(topic())
                    .subscriptionName(plan.get("subscription").asText()).consumerName("consumer-" + number)
                    .subscriptionInitialPosition(SubscriptionInitialPosition.EARLIEST).subscribe();
            return new Source(() -> consumer.receive(POLL), consumer::acknowledge, consumer::close);
        }

        private Source stream(int number) throws Exception {
            StreamConsumer<byte[]> consumer = client.newStreamConsumer(Schema.bytes()).topic(topic())
                    .subscriptionName(plan.get("subscription").asText()).consumerName("consumer-" + number)
                    .subscriptionInitialPosition(SubscriptionInitialPosition.EARLIEST).subscribe();
            return new Source(() -> consumer.receive(POLL), consumer::acknowledgeCumulative, consumer::close);
        }

        private String topic() {
            return plan.get("topic").asText();
        }

        ObjectNode report() {
            ObjectNode report = JSON.createObjectNode();
            report.putObject("producers").putObject(plan.get("topic").asText())
                    .put("scheduled", scheduled.get()).put("persisted", persisted.get()).put("failed", failed.get());
            report.putObject("subscriptions").putObject(plan.get("subscription").asText())
                    .put("received", received.get()).put("acked", acknowledged.get()).put("errors", errors.get());
            return report;
        }

        private static void daemon(Runnable work) {
            Thread thread = new Thread(work);
            thread.setDaemon(true);
            thread.start();
        }
    }

    /** A consumer of either kind. */
    private record Source(Callable<Message<byte[]>> receive, Consumer<MessageId> acknowledge, AutoCloseable consumer) {}
}
