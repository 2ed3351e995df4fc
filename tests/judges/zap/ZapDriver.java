import java.io.BufferedInputStream;
import java.io.DataInputStream;
import java.io.EOFException;
import java.io.File;
import java.io.IOException;
import java.io.PrintStream;
import java.lang.reflect.Constructor;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.ResourceBundle;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import net.htmlparser.jericho.MasonTagTypes;
import net.htmlparser.jericho.MicrosoftConditionalCommentTagTypes;
import net.htmlparser.jericho.PHPTagTypes;
import net.htmlparser.jericho.Source;
import net.sf.json.JSONObject;
import org.parosproxy.paros.Constant;
import org.parosproxy.paros.control.Control;
import org.parosproxy.paros.core.scanner.Alert;
import org.parosproxy.paros.model.HistoryReference;
import org.parosproxy.paros.model.Model;
import org.parosproxy.paros.network.HttpMessage;
import org.parosproxy.paros.network.HttpRequestHeader;
import org.parosproxy.paros.network.HttpResponseHeader;
import org.zaproxy.zap.control.ControlOverrides;
import org.zaproxy.zap.extension.pscan.PassiveScanActions;
import org.zaproxy.zap.extension.pscan.PassiveScanData;
import org.zaproxy.zap.extension.pscan.PluginPassiveScanner;
import org.zaproxy.zap.utils.ZapXmlConfiguration;

/**
 * Gives recorded HTTP exchanges to ZAP's passive scan rules, as its add-on {@code pscan} does.
 *
 * <p>Arguments: ZAP's home and installation folder, both may be empty; the folder of the compiled rules. In, on standard input: for
 * each exchange the request's header, its body, the response's header and its body, each after its length as a big-endian int. Out,
 * on standard output: one JSON object a line: a rule, an alert, an exchange that a rule failed on, and the end.
 */
public final class ZapDriver {
    private static final String RULE_SUFFIX = "ScanRule.class";
    /** Looks for a newer ZAP in the network, for every exchange; it says nothing of a server. */
    private static final String NOT_RUN = "ZapVersionScanRule.class";
    private static final String LIBRARIES = "org.zaproxy.addon.retire.model.Repo";
    private static final String LIBRARIES_FILE = "/org/zaproxy/addon/retire/resources/jsrepository.json";
    private static final long SLOW_MS = 5000;
    private static final int MOST_CHARACTERS = 300;
    private static PrintStream out;

    public static void main(String[] arguments) throws Exception {
        // What ZAP prints is not the answer.
        out = new PrintStream(System.out, true, StandardCharsets.UTF_8);
        System.setOut(System.err);
        start(arguments[0], arguments[1]);
        List<PluginPassiveScanner> rules = rules(Path.of(arguments[2]));
        List<HistoryReference> records = new ArrayList<>();
        for (HttpMessage message : messages()) {
            HistoryReference record =
                    new HistoryReference(Model.getSingleton().getSession(), HistoryReference.TYPE_PROXIED, message);
            // Some rules look at what is known of the site besides the exchange.
            Model.getSingleton().getSession().getSiteTree().addPath(record);
            records.add(record);
        }
        for (int index = 0; index < records.size(); index++) {
            scan(index, records.get(index), rules);
        }
        print("end", new JSONObject().element("exchanges", records.size()));
        // Threads of ZAP's extensions would keep the process.
        Runtime.getRuntime().halt(0);
    }

    private static void start(String home, String installation) throws Exception {
        Constant.setZapHome(home);
        Constant.setZapInstall(installation);
        Constant.getInstance();
        // ZAP does not start without some add-ons, none of which takes part in passive rules.
        ControlOverrides overrides =
                new ControlOverrides() {
                    @Override
                    public List<String> getMandatoryAddOns() {
                        return List.of();
                    }
                };
        Model.getSingleton().init(overrides);
        Control.initSingletonWithoutView(overrides);
        Control.getSingleton().newSession();
        // As the add-on does before it scans.
        MicrosoftConditionalCommentTagTypes.register();
        PHPTagTypes.register();
        PHPTagTypes.PHP_SHORT.deregister();
        MasonTagTypes.register();
    }

    private static List<PluginPassiveScanner> rules(Path folder) throws Exception {
        List<String> names;
        try (Stream<Path> files = Files.walk(folder)) {
            names =
                    files.map(file -> folder.relativize(file).toString())
                            .filter(name -> name.endsWith(RULE_SUFFIX) && !name.contains("$") && !name.endsWith(NOT_RUN))
                            .map(name -> name.substring(0, name.length() - ".class".length()).replace(File.separatorChar, '.'))
                            .sorted()
                            .collect(Collectors.toList());
        }
        addMessages("org.zaproxy.addon.commonlib");
        List<PluginPassiveScanner> rules = new ArrayList<>();
        for (String name : names) {
            addMessages(name.substring(0, name.lastIndexOf('.')));
            PluginPassiveScanner rule = rule(Class.forName(name));
            rule.setConfig(new ZapXmlConfiguration());
            JSONObject described =
                    new JSONObject()
                            .element("id", rule.getPluginId())
                            .element("name", rule.getName())
                            .element("class", name)
                            .element("enabled", rule.isEnabled())
                            .element("threshold", rule.getAlertThreshold().name());
            print("rule", described);
            rules.add(rule);
        }
        return rules;
    }

    private static PluginPassiveScanner rule(Class<?> kind) throws Exception {
        Constructor<?> constructor = kind.getDeclaredConstructors()[0];
        if (constructor.getParameterCount() == 0) {
            return (PluginPassiveScanner) constructor.newInstance();
        }
        // Retire.js' rule has a list of libraries with known faults, which its add-on reads.
        Object libraries = Class.forName(LIBRARIES).getConstructor(String.class).newInstance(LIBRARIES_FILE);
        return (PluginPassiveScanner) constructor.newInstance(libraries);
    }

    private static void addMessages(String room) {
        ResourceBundle texts = ResourceBundle.getBundle(room + ".resources.Messages", Locale.ENGLISH);
        String prefix = texts.getKeys().nextElement().replaceAll("\\..*", "");
        if (Constant.messages.getMessageBundle(prefix) == null) {
            Constant.messages.addMessageBundle(prefix, texts);
        }
    }

    private static List<HttpMessage> messages() throws Exception {
        List<HttpMessage> messages = new ArrayList<>();
        DataInputStream in = new DataInputStream(new BufferedInputStream(System.in));
        while (true) {
            byte[] header;
            try {
                header = part(in);
            } catch (EOFException end) {
                return messages;
            }
            HttpMessage message = new HttpMessage(new HttpRequestHeader(new String(header, StandardCharsets.ISO_8859_1)));
            message.setRequestBody(part(in));
            message.setResponseHeader(new HttpResponseHeader(new String(part(in), StandardCharsets.ISO_8859_1)));
            message.setResponseBody(part(in));
            message.setResponseFromTargetHost(true);
            messages.add(message);
        }
    }

    private static byte[] part(DataInputStream in) throws IOException {
        byte[] bytes = new byte[in.readInt()];
        in.readFully(bytes);
        return bytes;
    }

    private static void scan(int index, HistoryReference record, List<PluginPassiveScanner> rules) throws Exception {
        HttpMessage message = record.getHttpMessage();
        Source source = new Source(message.getResponseBody().toString());
        PassiveScanData data = new PassiveScanData(message);
        PassiveScanActions actions =
                new PassiveScanActions() {
                    @Override
                    public void raiseAlert(HistoryReference of, Alert alert) {
                        print("alert", described(index, message, alert));
                    }

                    @Override
                    public void addHistoryTag(HistoryReference of, String tag) {}
                };
        for (PluginPassiveScanner rule : rules) {
            if (!rule.isEnabled() || !rule.appliesToHistoryType(record.getHistoryType())) {
                continue;
            }
            long startNanos = System.nanoTime();
            try {
                PluginPassiveScanner one = rule.copy();
                one.setHelper(data);
                one.setPassiveScanActions(actions);
                one.scanHttpRequestSend(message, record.getHistoryId());
                one.scanHttpResponseReceive(message, record.getHistoryId(), source);
            } catch (Exception | LinkageError error) {
                print(
                        "failed",
                        new JSONObject()
                                .element("id", rule.getPluginId())
                                .element("exchange", index)
                                .element("error", shortened(error.toString())));
            }
            long tookMs = (System.nanoTime() - startNanos) / 1_000_000;
            if (tookMs > SLOW_MS) {
                System.err.println("rule " + rule.getPluginId() + " took " + tookMs + " ms on exchange " + index);
            }
        }
    }

    private static JSONObject described(int index, HttpMessage message, Alert alert) {
        return new JSONObject()
                .element("id", alert.getPluginId())
                .element("reference", alert.getAlertRef())
                .element("name", alert.getName())
                .element("risk", Alert.MSG_RISK[alert.getRisk()])
                .element("confidence", Alert.MSG_CONFIDENCE[alert.getConfidence()])
                .element("exchange", index)
                .element("method", message.getRequestHeader().getMethod())
                .element("url", message.getRequestHeader().getURI().toString())
                .element("status", message.getResponseHeader().getStatusCode())
                .element("param", shortened(alert.getParam()))
                .element("evidence", shortened(alert.getEvidence()))
                .element("other", shortened(alert.getOtherInfo()));
    }

    private static String shortened(String text) {
        String given = text == null ? "" : text;
        return given.length() > MOST_CHARACTERS ? given.substring(0, MOST_CHARACTERS) : given;
    }

    private static void print(String kind, JSONObject record) {
        // A text that looks like JSON would be read as such by json-lib, so texts were escaped by it already.
        out.println(record.element("kind", kind));
    }
}
