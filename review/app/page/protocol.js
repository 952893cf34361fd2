// The page's side of MCP Apps, revision 2026-01-26: JSON-RPC 2.0 by postMessage with the window around it.

const PROTOCOL_VERSION = "2026-01-26";

/** A call that failed. `code` is the service's own; empty when the host or the network refused. */
class Refusal extends Error {
  constructor(message, code = "", details = {}) {
    super(message);
    this.code = code;
    this.details = details;
  }
}

/**
 * Connect to the host. `on.result`, `on.cancelled`, `on.context` hear what it says.
 * Returns the calls of the page; `ready` settles with the host's capabilities.
 */
function connectToHost(on) {
  const waiting = new Map();
  let lastId = 0;
  let context = {};

  // The page cannot know the origin of the sandbox around it. The parent window is named, so nobody else hears this.
  const post = (message) => window.parent.postMessage({ jsonrpc: "2.0", ...message }, "*");

  function request(method, params, seconds) {
    return new Promise((resolve, reject) => {
      const id = ++lastId;
      const timer = setTimeout(() => {
        waiting.delete(id);
        reject(new Refusal(say("noAnswer")));
      }, seconds * 1000);
      waiting.set(id, { resolve, reject, timer });
      post({ id, method, params });
    });
  }

  function settle({ id, result, error }) {
    const call = waiting.get(id);
    if (!call) return; // an answer that came after its timeout
    waiting.delete(id);
    clearTimeout(call.timer);
    if (error) call.reject(new Refusal(error.message));
    else call.resolve(result);
  }

  const notifications = {
    "ui/notifications/tool-result": on.result,
    "ui/notifications/tool-cancelled": on.cancelled,
    // Only what changed is sent.
    "ui/notifications/host-context-changed": (changed) => on.context((context = { ...context, ...changed })),
  };
  const requests = new Set(["ping", "ui/resource-teardown"]); // both are answered by an empty result

  window.addEventListener("message", ({ source, data }) => {
    if (source !== window.parent || data?.jsonrpc !== "2.0") return;
    if (data.method === undefined) return settle(data);
    if (data.id === undefined) return notifications[data.method]?.(data.params ?? {});
    if (requests.has(data.method)) return post({ id: data.id, result: {} });
    post({ id: data.id, error: { code: -32601, message: "Method not found" } });
  });

  async function initialize() {
    if (window.parent === window) throw new Refusal("no host");
    const answer = await request("ui/initialize", {
      protocolVersion: PROTOCOL_VERSION,
      appInfo: { name: "flashcards-review", title: "Flashcard review", version: "1.0.0" },
      appCapabilities: { availableDisplayModes: ["inline"] },
    }, 20);
    on.context((context = { ...answer.hostContext, ...context }));
    // The host holds the cards back until it hears this.
    post({ method: "ui/notifications/initialized", params: {} });
    reportSize((size) => post({ method: "ui/notifications/size-changed", params: size }));
    return answer.hostCapabilities ?? {};
  }

  return {
    ready: initialize(),
    /** The `data` of a tool's answer; a Refusal when there is none. */
    async callTool(name, args) {
      return dataOf(await request("tools/call", { name, arguments: args }, 30));
    },
    /** Put `text` into the chat as the learner's; a Refusal when the host does not take it. Hosts may ask first. */
    async sendMessage(text) {
      const answer = await request("ui/message", { role: "user", content: [{ type: "text", text }] }, 120);
      if (answer?.isError) throw new Refusal("The chat did not take the message.");
    },
    openLink: (url) => request("ui/open-link", { url }, 30),
    /** The learner's time zone: the host's word counts if this browser knows that zone. */
    timeZone() {
      const zoneOf = (timeZone) => new Intl.DateTimeFormat("en", { timeZone }).resolvedOptions().timeZone;
      try {
        return zoneOf(context.timeZone);
      } catch {
        return zoneOf();
      }
    },
  };
}

/** The `data` of the envelope in a tool's result; its error as a Refusal. */
function dataOf(result) {
  const envelope = result?.structuredContent;
  if (!result?.isError && envelope?.ok) return envelope.data;
  const { code, message, details } = envelope?.error ?? {};
  throw new Refusal(message ?? result?.content?.[0]?.text ?? "", code, details);
}

/** Tell the host the size of the content: at most once in 60 ms, and only when it changed. */
function reportSize(send) {
  let timer = 0;
  let told = "";
  const measure = () => {
    timer = 0;
    // The document is never lower than its frame, so the content is measured: it may shrink, too.
    const size = { width: window.innerWidth, height: Math.ceil(document.body.getBoundingClientRect().height) };
    const now = `${size.width} ${size.height}`;
    if (now !== told) send(size);
    told = now;
  };
  new ResizeObserver(() => (timer ||= setTimeout(measure, 60))).observe(document.body);
}
