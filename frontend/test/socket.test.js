import assert from "node:assert/strict";
import test from "node:test";

import { BattleFeed } from "../src/core/socket.js";

class FakeSocket extends EventTarget {
  static made = [];
  sent = [];

  constructor(url) {
    super();
    this.url = url;
    FakeSocket.made.push(this);
  }

  send(text) {
    this.sent.push(JSON.parse(text));
  }

  close() {
    this.shut = true;
  }

  say(message) {
    this.dispatchEvent(Object.assign(new Event("message"), { data: JSON.stringify(message) }));
  }

  drop(code = 1006) {
    this.dispatchEvent(Object.assign(new Event("close"), { code }));
  }
}

/** A feed on fake sockets and fake time; `polls` counts the snapshots fetched without a socket. */
function feedOf(context, { poll = async () => ({ battle_id: "b" }) } = {}) {
  context.mock.timers.enable({ apis: ["setTimeout", "setInterval"] });
  const before = globalThis.WebSocket;
  globalThis.WebSocket = FakeSocket;
  FakeSocket.made = [];
  const seen = { polls: 0, messages: [], connections: [], refused: 0 };
  const feed = new BattleFeed("ws://here/", () => {
    seen.polls += 1;
    return poll();
  });
  feed.addEventListener("message", ({ detail }) => seen.messages.push(detail));
  feed.addEventListener("connection", () => seen.connections.push(feed.connected));
  feed.addEventListener("refused", () => (seen.refused += 1));
  context.after(() => {
    feed.dispose();
    globalThis.WebSocket = before;
  });
  return { feed, seen, tick: (ms) => context.mock.timers.tick(ms) };
}

test("messages are handed on, and a snapshot is asked for through the open socket", (context) => {
  const { feed, seen } = feedOf(context);
  FakeSocket.made[0].say({ type: "snapshot", battle: {} });
  feed.ask();
  assert.deepEqual(seen.messages, [{ type: "snapshot", battle: {} }]);
  assert.deepEqual(seen.connections, [true]);
  assert.deepEqual(FakeSocket.made[0].sent, [{ type: "snapshot" }]);
});

test("a dropped socket comes back, later each time it fails", (context) => {
  const { seen, tick } = feedOf(context);
  FakeSocket.made[0].drop();
  assert.deepEqual(seen.connections, [false]);
  tick(700);
  assert.equal(FakeSocket.made.length, 2);
  FakeSocket.made[1].drop();
  tick(700);
  assert.equal(FakeSocket.made.length, 2, "the second wait is longer");
  tick(700);
  assert.equal(FakeSocket.made.length, 3);
  FakeSocket.made[2].say({ type: "snapshot", battle: {} });
  assert.deepEqual(seen.connections, [false, true]);
});

test("without a socket it polls, also when sockets open and close at once", (context) => {
  const { seen, tick } = feedOf(context);
  for (let i = 0; i < 40; i += 1) {
    FakeSocket.made.at(-1).drop();
    tick(250);
  }
  assert.ok(seen.polls >= 4, `polled ${seen.polls} times in ten seconds`);
});

test("polling ends when the socket speaks again", (context) => {
  const { seen, tick } = feedOf(context);
  FakeSocket.made[0].drop();
  tick(700);
  FakeSocket.made[1].say({ type: "snapshot", battle: {} });
  tick(10_000);
  assert.equal(seen.polls, 0);
});

test("a socket that is refused is not tried again; the battle is followed by polling", (context) => {
  const { seen, tick } = feedOf(context);
  FakeSocket.made[0].drop(4404);
  tick(20_000);
  assert.equal(FakeSocket.made.length, 1);
  assert.ok(seen.polls >= 9);
});

test("a battle that the API does not know either is refused", async (context) => {
  const { seen, tick } = feedOf(context, { poll: () => Promise.reject(Object.assign(new Error(), { status: 404 })) });
  FakeSocket.made[0].drop(4404);
  tick(2_000);
  await new Promise(setImmediate);
  assert.equal(seen.refused, 1);
});

test("a quiet socket is asked when news is due, and not before", (context) => {
  const { feed, tick } = feedOf(context);
  const [socket] = FakeSocket.made;
  socket.say({ type: "snapshot", battle: {} });
  tick(60_000);
  assert.deepEqual(socket.sent, []);
  feed.waiting = true;
  tick(10_000);
  socket.say({ type: "rollout.started", seq: 2 });
  tick(10_000);
  assert.deepEqual(socket.sent, [], "news came meanwhile");
  tick(5_000);
  assert.deepEqual(socket.sent, [{ type: "snapshot" }]);
  socket.say({ type: "snapshot", battle: {} });
  feed.waiting = false;
  tick(60_000);
  assert.equal(socket.sent.length, 1);
  assert.ok(!socket.shut);
});

test("a socket that does not answer when news is due is given up, and another one opened", (context) => {
  const { feed, tick } = feedOf(context);
  const [socket] = FakeSocket.made;
  socket.say({ type: "snapshot", battle: {} });
  feed.waiting = true;
  tick(15_000);
  assert.ok(!socket.shut);
  tick(15_000);
  assert.ok(socket.shut);
  socket.drop();
  tick(700);
  FakeSocket.made[1].say({ type: "snapshot", battle: {} });
  tick(15_000);
  assert.deepEqual(FakeSocket.made[1].sent, [{ type: "snapshot" }], "the new one is listened to as well");
});

test("a socket that falls silent between two chunks is given up within five seconds, even without a farewell", (context) => {
  const { feed, seen, tick } = feedOf(context);
  const [socket] = FakeSocket.made;
  socket.say({ type: "snapshot", battle: {} });
  feed.waiting = true;
  for (let chunk = 0; chunk < 40; chunk += 1) {
    tick(200);
    socket.say({ type: "rollout.frames", turn_id: "t" });
  }
  assert.deepEqual(socket.sent, []);
  tick(2_500);
  assert.deepEqual(socket.sent, [{ type: "snapshot" }]);
  tick(2_500);
  assert.deepEqual(seen.connections, [true, false]);
  tick(700);
  assert.equal(FakeSocket.made.length, 2);
  FakeSocket.made[1].say({ type: "snapshot", battle: {} });
  socket.say({ type: "rollout.frames", turn_id: "t" });
  socket.drop();
  assert.deepEqual(seen.connections, [true, false, true]);
  assert.equal(seen.messages.at(-1).type, "snapshot", "the old one is heard no more");
});

test("as soon as the server is reached again, so is its socket", async (context) => {
  let reachable = false;
  const poll = () => (reachable ? Promise.resolve({ battle_id: "b" }) : Promise.reject(new Error("unreachable")));
  const { seen, tick } = feedOf(context, { poll });
  for (let i = 0; i < 100; i += 1) {
    FakeSocket.made.at(-1).drop();
    tick(200);
    await new Promise(setImmediate);
  }
  const before = FakeSocket.made.length;
  reachable = true;
  tick(2_000);
  await new Promise(setImmediate);
  assert.equal(seen.messages.at(-1).type, "snapshot");
  assert.equal(FakeSocket.made.length, before + 1);
});

test("after its end it says nothing and tries nothing", (context) => {
  const { feed, seen, tick } = feedOf(context);
  FakeSocket.made[0].drop();
  feed.dispose();
  FakeSocket.made[0].say({ type: "snapshot", battle: {} });
  tick(60_000);
  assert.deepEqual([FakeSocket.made.length, seen.polls, seen.messages.length], [1, 0, 0]);
});
