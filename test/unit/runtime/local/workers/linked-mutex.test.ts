import { Duplex, PassThrough, Writable } from 'node:stream';
import { expect, it } from 'vitest';
import type { LmdbTable } from '../../../../../shared/adapters/embedded/lmdb-table.ts';
import { stepsOf, type Step } from '../../../../../shared/adapters/embedded/write-steps.ts';
import { Desk, type DeskDeps } from '../../../../../functions/runtime/local/workers/desk.ts';
import { Link, type Message } from '../../../../../functions/runtime/local/workers/link.ts';
import { LinkedCommits, LinkedMutex } from '../../../../../functions/runtime/local/workers/worker-adapters.ts';
import { KeyedMutex, mutexName } from '../../../../../shared/metadata/keyed-mutex.ts';
import type { ItemKey } from '../../../../../shared/ports/key-value-table.ts';

const item: ItemKey = { pk: 'head/bucket', sk: 'key' };
const name = mutexName(item);

interface Worker {
  readonly mutex: LinkedMutex;
  readonly commits: LinkedCommits;
  /** The messages that the primary received. */
  readonly sent: string[];
  /** Ends it as `kill -9` does. */
  readonly die: () => void;
}

/** A primary with a table that only counts commits, and its workers, over streams instead of processes. */
class Primary {
  readonly #mutex = new KeyedMutex();
  /** The values that were committed, in order. */
  readonly committed: string[] = [];

  worker(): Worker {
    const [up, down] = [new PassThrough(), new PassThrough()];
    const desk = new Desk(this.#deps());
    const sent: string[] = [];
    new Link(Duplex.from({ readable: up, writable: down }), {
      answer: (message: Message) => {
        sent.push(`${message.kind}?`);
        return desk.answer(message);
      },
      hear: (message: Message) => {
        sent.push(message.kind);
        desk.hear(message);
      },
      closed: () => undefined,
    });
    const link = new Link(Duplex.from({ readable: down, writable: up }), {
      answer: () => Promise.resolve({}),
      hear: () => undefined,
      closed: () => undefined,
    });
    const mutex = new LinkedMutex(link);
    return { mutex, commits: new LinkedCommits(link, mutex), sent, die: () => desk.close() };
  }

  #deps(): DeskDeps {
    const commit = async (steps: readonly Step[]): Promise<unknown> => {
      this.committed.push(steps[0]!.key.sk + ':' + steps.length);
      return { outcome: 'written', old: [undefined] };
    };
    const unused = undefined as never;
    return {
      table: { commit } as Partial<LmdbTable> as LmdbTable,
      mutex: this.#mutex,
      ...{ smallBlobs: unused, quotas: unused, rates: unused, refused: unused, drain: unused, settle: unused },
      output: new Writable(),
    };
  }
}

function put(...keys: readonly ItemKey[]): readonly Step[] {
  return stepsOf(
    keys.map((key) => ({ key, put: { a: 1 } })),
    [],
  );
}

/** An action that begins, and goes on when it is told to. */
function paused() {
  let goOn!: () => void;
  const end = new Promise<void>((resolve) => (goOn = resolve));
  let begin!: () => void;
  const begun = new Promise<void>((resolve) => (begin = resolve));
  return { goOn, begun, run: () => (begin(), end) };
}

/** Resolves once every message on its way has arrived. */
async function delivered(): Promise<void> {
  for (let turn = 0; turn < 20; turn += 1) await new Promise((resolve) => setImmediate(resolve));
}

it('takes a free lock without waiting for an answer: a change costs one request', async () => {
  const primary = new Primary();
  const worker = primary.worker();
  await worker.mutex.run(name, () => worker.commits.commit(put(item), 1));
  await delivered();
  expect(worker.sent).toEqual(['lock', 'commit?', 'unlock']);
});

it('lets a commit wait for a lock that another worker holds, and then has actions wait before they begin', async () => {
  const primary = new Primary();
  const [holder, other] = [primary.worker(), primary.worker()];
  const holding = paused();
  const held = holder.mutex.run(name, holding.run);
  await delivered();
  const waiting = other.mutex.run(name, () => other.commits.commit(put(item), 1));
  await delivered();
  expect(other.sent).toEqual(['lock', 'commit?']);
  expect(primary.committed).toEqual([]);
  holding.goOn();
  await Promise.all([held, waiting]);
  expect(primary.committed).toEqual(['key:1']);

  const again = paused();
  const heldAgain = holder.mutex.run(name, again.run);
  await delivered();
  const action = paused();
  action.goOn();
  const begins = other.mutex.run(name, action.run);
  let hasBegun = false;
  void action.begun.then(() => (hasBegun = true));
  await delivered();
  expect(other.sent.slice(3)).toEqual(['lock?']);
  expect(hasBegun).toBe(false);
  again.goOn();
  await Promise.all([heldAgain, begins]);
  expect(hasBegun).toBe(true);
});

it('does not make commits of other items wait', async () => {
  const primary = new Primary();
  const [holder, other] = [primary.worker(), primary.worker()];
  const holding = paused();
  const held = holder.mutex.run(name, holding.run);
  await delivered();
  await other.commits.commit(put({ pk: 'head/bucket', sk: 'another' }), 1);
  expect(primary.committed).toEqual(['another:1']);
  holding.goOn();
  await held;
});

it('gives up a lock that was not granted yet when its action ends without a commit', async () => {
  const primary = new Primary();
  const [holder, other, third] = [primary.worker(), primary.worker(), primary.worker()];
  const holding = paused();
  const held = holder.mutex.run(name, holding.run);
  await delivered();
  await other.mutex.run(name, () => Promise.resolve());
  holding.goOn();
  await held;
  await third.mutex.run(name, () => third.commits.commit(put(item), 1));
  expect(primary.committed).toEqual(['key:1']);
});

it('passes the locks of a worker that died to the others, and still makes the commits it had sent', async () => {
  const primary = new Primary();
  const [holder, victim, other] = [primary.worker(), primary.worker(), primary.worker()];
  const holding = paused();
  void holder.mutex.run(name, holding.run);
  await delivered();
  void victim.mutex.run(name, () => victim.commits.commit(put(item, { pk: 'a', sk: 'b' }), 2));
  await delivered();
  victim.die();
  holder.die();
  await other.mutex.run(name, () => other.commits.commit(put(item), 1));
  expect(primary.committed).toEqual(['key:2', 'key:1']);
});
