// An editor on the protocol's own TypeScript library. It drives the agent whose command line follows
// through one conversation, with the turns of acp/clients_sdk_linux_test.go, and prints what it saw as
// one JSON object. What is right is judged there.
//
//   node sdk-driver.mjs PARTS CWD AGENT [ARG...]
import { spawn } from "node:child_process";
import { readFile, writeFile } from "node:fs/promises";
import { createRequire } from "node:module";
import path from "node:path";
import { Readable, Writable } from "node:stream";
import { pathToFileURL } from "node:url";

const [parts, cwd, command, ...args] = process.argv.slice(2);
const sdk = createRequire(path.join(parts, "npm", "package.json")).resolve("@agentclientprotocol/sdk");
const acp = await import(pathToFileURL(sdk).href);
const { agent: ask, client: asked } = acp.methods;

const seen = { permissions: [], reads: [], writes: [], turns: [] };
const buffers = new Map([[path.join(cwd, "a.txt"), "teh fox, not saved yet\n"]]);
let turn; // of the running prompt
let onPermission, onUpdate; // what the running turn does about them

const editor = acp
  .client({ name: "sdk-driver" })
  .onNotification(asked.session.update, ({ params }) => {
    turn?.updates.push(params.update);
    onUpdate?.(params);
  })
  .onRequest(asked.session.requestPermission, ({ params }) => {
    seen.permissions.push(params);
    return onPermission(params);
  })
  .onRequest(asked.fs.readTextFile, async ({ params }) => {
    seen.reads.push(params.path);
    return { content: buffers.get(params.path) ?? (await readFile(params.path, "utf8")) };
  })
  .onRequest(asked.fs.writeTextFile, async ({ params }) => {
    seen.writes.push(params);
    buffers.set(params.path, params.content);
    await writeFile(params.path, params.content);
    return {};
  });

const choose = (kind) => ({ options }) => ({
  outcome: { outcome: "selected", optionId: options.find((o) => o.kind === kind).optionId },
});

const program = spawn(command, args, { cwd, stdio: ["pipe", "pipe", "inherit"] });
const ended = new Promise((resolve) => program.on("exit", (code, signal) => resolve({ code, signal })));
const stream = acp.ndJsonStream(Writable.toWeb(program.stdin), Readable.toWeb(program.stdout));

await editor.connectWith(stream, async (agent) => {
  seen.initialize = await agent.request(ask.initialize, {
    protocolVersion: acp.PROTOCOL_VERSION,
    clientInfo: { name: "sdk-driver", version: "1.0.0" },
    clientCapabilities: { fs: { readTextFile: true, writeTextFile: true }, terminal: false },
  });
  seen.session = await agent.request(ask.session.new, { cwd, mcpServers: [] });
  const { sessionId } = seen.session;

  const prompt = async (text, reactions = {}) => {
    turn = { updates: [] };
    onPermission = reactions.permission ?? choose("allow_once");
    onUpdate = reactions.update;
    seen.turns.push(turn);
    Object.assign(turn, await agent.request(ask.session.prompt, { sessionId, prompt: [{ type: "text", text }] }));
  };
  // Cancelling is told once; a second notice would be one about the next turn.
  const cancelOnce = () => {
    let done = false;
    return () => done || ((done = true), agent.notify(ask.session.cancel, { sessionId }));
  };

  await prompt("mend the typo");
  await prompt("change it back", { permission: choose("reject_once") });

  await agent.request(ask.session.setMode, { sessionId, modeId: "plan" });
  await prompt("change it in plan mode");
  seen.unknownMode = await agent.request(ask.session.setMode, { sessionId, modeId: "nonsense" }).catch((e) => e.code);

  seen.configured = [];
  for (const [configId, value] of [["mode", "default"], ["diagnostics", "off"]]) {
    seen.configured.push(await agent.request(ask.session.setConfigOption, { sessionId, configId, value }));
  }

  const cancelStory = cancelOnce();
  await prompt("tell a story", {
    update: ({ update }) => update.sessionUpdate === "agent_message_chunk" && cancelStory(),
  });
  await prompt("change it, but I change my mind", {
    permission: async () => (await cancelOnce()(), { outcome: { outcome: "cancelled" } }),
  });
  await prompt("are you still there?");
  await agent.request(ask.session.close, { sessionId });
  seen.afterClose = await agent
    .request(ask.session.prompt, { sessionId, prompt: [{ type: "text", text: "hello?" }] })
    .then(() => "answered", (e) => e.code);
});
program.stdin.end();
seen.exit = await ended;
console.log(JSON.stringify(seen));
