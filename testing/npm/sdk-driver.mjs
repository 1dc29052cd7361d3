// Drives an agent with the protocol's official TypeScript SDK: three prompts, of which the first's
// edit is approved, the second's is rejected, and the third is cancelled while text comes in. It
// prints one JSON object of what it saw. The SDK checks every message that comes in; what it
// complains of is in `complaints`.
//
//   node sdk-driver.mjs PARTS CWD AGENT [ARG…]
import { spawn } from "node:child_process";
import { readFile, writeFile } from "node:fs/promises";
import { createRequire } from "node:module";
import { join } from "node:path";
import { Readable, Writable } from "node:stream";
import { pathToFileURL } from "node:url";

const [parts, cwd, command, ...args] = process.argv.slice(2);
const sdk = createRequire(join(parts, "npm", "index.js")).resolve("@agentclientprotocol/sdk");
const acp = await import(pathToFileURL(sdk));

const seen = { complaints: [], permissions: [], updates: {}, text: "", calls: {}, stops: [], reads: 0, writes: 0 };
console.error = (...what) => seen.complaints.push(what.map((w) => (typeof w === "string" ? w : JSON.stringify(w))).join(" "));

const agent = spawn(command, args, { stdio: ["pipe", "pipe", "inherit"] });
const ended = new Promise((resolve) => agent.on("exit", (code, signal) => resolve({ code, signal })));

const answers = ["allow_once", "reject_once"];
let onText = () => {};
const app = acp
  .client({ name: "sdk-driver" })
  .onRequest(acp.methods.client.session.requestPermission, ({ params }) => {
    const kind = answers.shift();
    seen.permissions.push({ title: params.toolCall.title, options: params.options.map((o) => o.kind), diffs: params.toolCall.content.filter((c) => c.type === "diff").length });
    return { outcome: { outcome: "selected", optionId: params.options.find((o) => o.kind === kind).optionId } };
  })
  .onRequest(acp.methods.client.fs.readTextFile, async ({ params }) => {
    seen.reads++;
    return { content: await readFile(params.path, "utf8") };
  })
  .onRequest(acp.methods.client.fs.writeTextFile, async ({ params }) => {
    seen.writes++;
    await writeFile(params.path, params.content);
    return {};
  })
  .onNotification(acp.methods.client.session.update, ({ params: { update } }) => {
    seen.updates[update.sessionUpdate] = (seen.updates[update.sessionUpdate] ?? 0) + 1;
    if (update.sessionUpdate === "agent_message_chunk") {
      seen.text += update.content.text;
      onText();
    }
    if (update.sessionUpdate === "tool_call" || update.sessionUpdate === "tool_call_update") {
      seen.calls[update.toolCallId] = update.status ?? seen.calls[update.toolCallId];
    }
  });

await app.connectWith(acp.ndJsonStream(Writable.toWeb(agent.stdin), Readable.toWeb(agent.stdout)), async (peer) => {
  const { session: methods } = acp.methods.agent;
  const hello = await peer.request(acp.methods.agent.initialize, {
    protocolVersion: acp.PROTOCOL_VERSION,
    clientInfo: { name: "sdk-driver", version: "1.0.0" },
    clientCapabilities: { fs: { readTextFile: true, writeTextFile: true } },
  });
  seen.agent = hello.agentInfo;
  const { sessionId } = await peer.request(methods.new, { cwd, mcpServers: [] });
  const prompt = (text) => peer.request(methods.prompt, { sessionId, prompt: [{ type: "text", text }] });
  for (const text of ["edit and be allowed", "edit and be refused"]) {
    seen.stops.push((await prompt(text)).stopReason);
  }
  const talking = new Promise((resolve) => (onText = resolve));
  const turn = prompt("talk until you are stopped");
  await talking;
  await peer.notify(methods.cancel, { sessionId });
  seen.stops.push((await turn).stopReason);
  await peer.request(methods.close, { sessionId });
});
agent.stdin.end();
seen.exit = await ended;
console.log(JSON.stringify(seen));
