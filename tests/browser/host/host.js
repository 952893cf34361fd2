// A chat app around the review page: the official bridge, and a client of the server that is tested.
// The tests drive it through `chat` and read from it what the page did.

import { AppBridge, buildAllowAttribute, getToolUiResourceUri, PostMessageTransport, RESOURCE_MIME_TYPE }
  from "@modelcontextprotocol/ext-apps/app-bridge";
import { Client, StreamableHTTPClientTransport } from "@modelcontextprotocol/client";

const UI = { "io.modelcontextprotocol/ui": { mimeTypes: [RESOURCE_MIME_TYPE] } };
const CAPABILITIES = { openLinks: {}, serverTools: {}, updateModelContext: { text: {} }, message: { text: {} }, sampling: {} };

class Chat {
  sent = []; // every message of the page, as it came
  calls = []; // the tool calls that were let through
  refused = []; // the names of those that were not
  messages = []; // what the page put into the chat
  links = [];
  // What goes wrong with the next tool calls of the page, `state` left out: "lost" on the way there, "unanswered"
  // when only the answer is lost. null lets one pass.
  faults = [];

  /** `options`: mcp, key, era, sandbox, theme, locale, timeZone, variables, message, without. */
  async connect(options) {
    this.options = options;
    const mode = options.era === "legacy" ? "legacy" : "auto";
    this.client = new Client(
      { name: "test-chat", version: "1.0.0" },
      { capabilities: { extensions: UI }, versionNegotiation: { mode } },
    );
    const headers = { Authorization: `Bearer ${options.key}` };
    await this.client.connect(new StreamableHTTPClientTransport(new URL(options.mcp), { requestInit: { headers } }));
    const { tools } = await this.client.listTools();
    this.tools = new Map(tools.map((tool) => [tool.name, tool]));
    return this.client.getNegotiatedProtocolVersion();
  }

  /** What the model does: list the due cards and offer them. */
  async candidates() {
    const listed = await this.model("flashcard", { action: "list_cards", scope: "all", filter: "due" });
    return listed.structuredContent.data;
  }

  model(name, args) {
    return this.client.callTool({ name, arguments: args });
  }

  /** What the host does when the model calls the launcher: call it, and show its page. */
  async launch(args) {
    this.launcher = this.tools.get("flashcard_review_session");
    this.args = args;
    this.result = await this.model(this.launcher.name, args);
    await this.mount();
    await this.bridge.sendToolResult(this.result);
    return this.result;
  }

  /** As `launch`, but the learner stops the model before there is a result. */
  async launchAndCancel() {
    this.launcher = this.tools.get("flashcard_review_session");
    this.args = {};
    await this.mount();
    await this.bridge.sendToolCancelled({ reason: "user action" });
  }

  /** The same conversation opened again: a new page, handed the old result. */
  async remount() {
    await this.bridge.teardownResource({});
    await this.bridge.close();
    await this.mount();
    await this.bridge.sendToolResult(this.result);
  }

  async mount() {
    const uri = getToolUiResourceUri(this.launcher);
    const [page] = (await this.client.readResource({ uri })).contents;
    if (page.mimeType !== RESOURCE_MIME_TYPE) throw new Error(`the page is ${page.mimeType}`);
    this.page = page;
    const frame = await this.frame(page);
    this.bridge = this.bridgeTo(frame);
    const initialized = new Promise((resolve) => (this.bridge.oninitialized = resolve));
    await this.bridge.connect(new PostMessageTransport(frame.contentWindow, frame.contentWindow));
    await this.bridge.sendSandboxResourceReady({ html: page.text, csp: page._meta?.ui?.csp });
    await initialized;
    await this.bridge.sendToolInput({ arguments: this.args });
  }

  async frame(page) {
    const frame = document.createElement("iframe");
    frame.title = "Sandbox";
    frame.setAttribute("sandbox", "allow-scripts allow-same-origin allow-forms");
    frame.allow = buildAllowAttribute(this.options.clipboard ? page._meta?.ui?.permissions : undefined);
    frame.src = this.options.sandbox;
    const ready = new Promise((resolve) => {
      window.addEventListener("message", ({ source, data }) => {
        if (source !== frame.contentWindow || data?.jsonrpc !== "2.0") return;
        if (data.method === "ui/notifications/sandbox-proxy-ready") resolve();
        else this.sent.push(data);
      });
    });
    document.querySelector("main").replaceChildren(frame);
    await ready;
    return frame;
  }

  bridgeTo(frame) {
    const capabilities = { ...CAPABILITIES };
    for (const name of this.options.without ?? []) delete capabilities[name];
    const bridge = new AppBridge(null, { name: "test-chat", version: "1.0.0" }, capabilities, { hostContext: this.context() });
    bridge.oncalltool = (params) => this.callTool(params);
    bridge.onsizechange = ({ height }) => (frame.style.height = `${height}px`);
    bridge.onopenlink = async ({ url }) => (this.links.push(url), {});
    bridge.onmessage = async (params) => {
      this.messages.push(params);
      return { isError: this.options.message === "refuse" };
    };
    return bridge;
  }

  context() {
    const { theme = "light", locale = "en-GB", timeZone = "Europe/Vienna", variables = {} } = this.options;
    document.body.className = theme;
    return {
      theme, locale, timeZone, displayMode: "inline", availableDisplayModes: ["inline"], platform: "web",
      containerDimensions: { maxHeight: 4000 }, toolInfo: { tool: this.launcher }, styles: { variables },
    };
  }

  /** The page's tool calls; the bridge forwards any, so who may call what is checked here. */
  async callTool(params) {
    const visibility = this.tools.get(params.name)?._meta?.ui?.visibility ?? ["model", "app"];
    if (!this.tools.has(params.name) || !visibility.includes("app")) {
      this.refused.push(params.name);
      throw new Error("The page may not call this tool.");
    }
    this.calls.push(params.arguments);
    const fault = params.arguments.action === "state" ? null : this.faults.shift();
    if (fault === "lost") throw new Error("The connection was lost.");
    const result = await this.client.callTool(params);
    if (fault === "unanswered") throw new Error("The connection was lost.");
    return result;
  }
}

window.chat = new Chat();
