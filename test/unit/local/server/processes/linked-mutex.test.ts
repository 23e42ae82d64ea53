import { Duplex, PassThrough } from 'node:stream';
import { expect, it } from 'vitest';
import type { LmdbTable } from '../../../../../shared/adapters/embedded/table/lmdb-table.ts';
import { stepsOf, type Step } from '../../../../../shared/adapters/encoded-table/write-steps.ts';
import { Desk, type DeskDeps } from '../../../../../local/server/processes/desk.ts';
import { Link } from '../../../../../local/server/processes/link.ts';
import {
  primaryCalls,
  workerCalls,
  type PrimaryProcess,
  type WorkerProcess,
} from '../../../../../local/server/processes/messages.ts';
import { LinkedCommits, LinkedMutex } from '../../../../../local/server/processes/worker-adapters.ts';
import { KeyedMutex, mutexName } from '../../../../../shared/storage/concurrency.ts';
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

const unused = undefined as never;

/** A primary with a table that only counts commits, and its workers, over streams instead of processes. */
class Primary {
  readonly #mutex = new KeyedMutex();
  /** The commits, in order. */
  readonly committed: string[] = [];
  /** How many of the next commits conflict. */
  conflicts = 0;

  worker(): Worker {
    const [up, down] = [new PassThrough(), new PassThrough()];
    const desk = new Desk(this.#deps(), { connections: unused, serving: unused, failed: unused });
    const sent: string[] = [];
    const recorded = new Proxy<PrimaryProcess>(desk, {
      get: (_, name: keyof PrimaryProcess) => {
        sent.push(primaryCalls[name] === 'request' ? `${name}?` : name);
        return desk[name].bind(desk);
      },
    });
    const nothing = (): void => undefined;
    new Link(Duplex.from({ readable: up, writable: down }), recorded, workerCalls, nothing);
    const own = {} as WorkerProcess;
    const { other } = new Link(Duplex.from({ readable: down, writable: up }), own, primaryCalls, nothing);
    const mutex = new LinkedMutex(other);
    return { mutex, commits: new LinkedCommits(other, mutex), sent, die: () => desk.close() };
  }

  #deps(): DeskDeps {
    const commit = async (steps: readonly Step[]): Promise<unknown> => {
      if (this.conflicts > 0) {
        this.conflicts -= 1;
        return { outcome: 'conflict', failed: [{ key: steps[0]!.key, item: undefined }] };
      }
      this.committed.push(steps[0]!.key.sk + ':' + steps.length);
      return { outcome: 'written', old: [undefined] };
    };
    return {
      table: { commit } as Partial<LmdbTable> as LmdbTable,
      mutex: this.#mutex,
      ...{ smallBlobs: unused, quotas: unused, rates: unused, refused: unused, drain: unused, settle: unused },
      ...{ output: unused, origins: unused, logKeeper: unused },
    };
  }
}

function put(...keys: readonly ItemKey[]): readonly Step[] {
  return stepsOf(
    keys.map((key) => ({ key, put: { a: 1 } })),
    [],
  );
}

/** An action that pauses until it is told to continue. */
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

/** Begins an action that holds the lock: its first commit conflicts, and it has not tried again yet. */
async function begin(primary: Primary, { mutex, commits }: Worker) {
  const pause = paused();
  primary.conflicts += 1;
  const ended = mutex.run(name, async () => {
    await commits.commit(put(item), 1);
    await pause.run();
  });
  await pause.begun;
  return { goOn: pause.goOn, ended };
}

it('takes a free lock with the commit, and releases it there: a change costs one message and its answer', async () => {
  const primary = new Primary();
  const worker = primary.worker();
  await worker.mutex.run(name, () => worker.commits.commit(put(item), 1));
  await delivered();
  expect(worker.sent).toEqual(['commit?']);
  const other = primary.worker();
  await other.mutex.run(name, () => other.commits.commit(put(item), 1));
  expect(primary.committed).toEqual(['key:1', 'key:1']);
});

it('keeps the lock after a conflict until the action ends, so that its next attempt is not in vain', async () => {
  const primary = new Primary();
  const [holder, other] = [primary.worker(), primary.worker()];
  const pause = paused();
  primary.conflicts = 1;
  const change = holder.mutex.run(name, async () => {
    expect((await holder.commits.commit(put(item), 1)).outcome).toBe('conflict');
    await pause.run();
    expect((await holder.commits.commit(put(item, { pk: 'a', sk: 'b' }), 2)).outcome).toBe('written');
  });
  await pause.begun;
  const waiting = other.mutex.run(name, () => other.commits.commit(put(item), 1));
  await delivered();
  expect(primary.committed).toEqual([]);
  pause.goOn();
  await Promise.all([change, waiting]);
  expect(primary.committed).toEqual(['key:2', 'key:1']);
  expect(holder.sent).toEqual(['commit?', 'commit?', 'unlock']);
});

it('lets a commit wait for a lock that another worker holds, and then has actions wait before they begin', async () => {
  const primary = new Primary();
  const [holder, other] = [primary.worker(), primary.worker()];
  const held = await begin(primary, holder);
  const waiting = other.mutex.run(name, () => other.commits.commit(put(item), 1));
  await delivered();
  expect(other.sent).toEqual(['commit?']);
  expect(primary.committed).toEqual([]);
  held.goOn();
  await Promise.all([held.ended, waiting]);
  expect(primary.committed).toEqual(['key:1']);

  const again = await begin(primary, holder);
  const action = paused();
  action.goOn();
  const begins = other.mutex.run(name, action.run);
  let hasBegun = false;
  void action.begun.then(() => (hasBegun = true));
  await delivered();
  expect(other.sent.slice(1)).toEqual(['lock?']);
  expect(hasBegun).toBe(false);
  again.goOn();
  await Promise.all([again.ended, begins]);
  expect(hasBegun).toBe(true);
});

it('does not make commits of other items wait', async () => {
  const primary = new Primary();
  const [holder, other] = [primary.worker(), primary.worker()];
  const held = await begin(primary, holder);
  await other.commits.commit(put({ pk: 'head/bucket', sk: 'another' }), 1);
  expect(primary.committed).toEqual(['another:1']);
  held.goOn();
  await held.ended;
});

it('releases a lock that was kept for an action which has ended meanwhile', async () => {
  const primary = new Primary();
  const [worker, other] = [primary.worker(), primary.worker()];
  primary.conflicts = 1;
  // The commit is not that of the action, but changes its item.
  const pause = paused();
  const action = worker.mutex.run(name, pause.run);
  const commit = worker.commits.commit(put(item), 1);
  pause.goOn();
  await action;
  await commit;
  await other.mutex.run(name, () => other.commits.commit(put(item), 1));
  expect(primary.committed).toEqual(['key:1']);
});

it('passes the locks of a worker that died to the others, and still makes the commits it had sent', async () => {
  const primary = new Primary();
  const [holder, victim, other] = [primary.worker(), primary.worker(), primary.worker()];
  await begin(primary, holder);
  void victim.mutex.run(name, () => victim.commits.commit(put(item, { pk: 'a', sk: 'b' }), 2));
  await delivered();
  victim.die();
  holder.die();
  await other.mutex.run(name, () => other.commits.commit(put(item), 1));
  expect(primary.committed).toEqual(['key:2', 'key:1']);
});
