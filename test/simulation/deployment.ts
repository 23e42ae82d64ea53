import { lifecycleDeps } from '../../functions/compose/lifecycle.ts';
import type { Adapters } from '../../functions/compose/services.ts';
import { applyLifecycle, type LifecycleDeps } from '../../shared/lifecycle/apply-lifecycle.ts';
import { realDays } from '../../shared/lifecycle/lifecycle.ts';
import { isPassDue } from '../../shared/lifecycle/plan-lifecycle.ts';
import type { FeedRecord } from '../../shared/ports/key-value-table.ts';
import type { Telemetry } from '../../shared/ports/telemetry.ts';
import { defaultLimits } from '../../shared/protocol/limits.ts';
import type { Services, Settings } from '../../shared/protocol/operation.ts';
import { SeededRandomness } from '../model/actor.ts';
import { alarmAdapters } from '../support/storage/fixed-deps.ts';
import { BlobState, SimulatedBlobs } from './blobs.ts';
import type { Server } from './network.ts';
import { Receiver } from './receiver.ts';
import { SimulatedProcess } from './scheduler.ts';
import { TableState } from './table-state.ts';
import { SimulatedTable, type World } from './table.ts';

/** A fault that is planted in the service, for the simulation to find. */
export interface PlantedFault {
  /** Changes the table of a process. */
  readonly table?: (table: SimulatedTable) => void;
  /** Returns other services for a server. */
  readonly services?: (services: Services) => Partial<Services>;
  /** Returns the records that the followers of the feed get of those that were written. */
  readonly feed?: (records: readonly FeedRecord[]) => readonly FeedRecord[];
  /** Replaces the dependencies of a lifecycle pass. */
  readonly lifecycle?: (deps: LifecycleDeps) => LifecycleDeps;
}

/** The settings of a simulated service. */
export const settings: Settings = {
  region: 'us-east-1',
  xmlNamespace: 'http://s3.amazonaws.com/doc/2006-03-01/',
  allUsersGroupUri: 'http://acs.amazonaws.com/groups/global/AllUsers',
  limits: { ...defaultLimits, minimumPartBytes: 1 },
  tokenKey: new Uint8Array(32),
};

/** The stores of a deployment, and the host of its webhooks, which outlive its processes. */
export class Stores {
  readonly world: World;
  readonly table: TableState;
  readonly blobs = new BlobState();
  readonly receiver: Receiver;
  readonly freeChecks: boolean;
  readonly fault: PlantedFault;
  #processes = 0;

  constructor(world: World, { freeChecks, fault }: { readonly freeChecks: boolean; readonly fault: PlantedFault }) {
    this.world = world;
    this.freeChecks = freeChecks;
    this.fault = fault;
    this.table = new TableState(() => world.scheduler.now);
    this.receiver = new Receiver(world);
  }

  /** Starts a process. */
  process(name: string): SimulatedProcess {
    this.#processes += 1;
    return new SimulatedProcess(`${name}-${this.#processes}`, !this.freeChecks);
  }

  /** Returns the telemetry of a process. It only traces problems, since many are intended. */
  telemetry(process: SimulatedProcess): Telemetry {
    return {
      request: () => undefined,
      note: () => undefined,
      problem: (message, error) => this.world.scheduler.note(`${process.name}: ${message}`, `: ${stackOf(error)}`),
    };
  }

  /** Returns the table of a process. */
  simulatedTable(process: SimulatedProcess): SimulatedTable {
    const table = new SimulatedTable(this.table, process, this.world, { freeChecks: this.freeChecks });
    this.fault.table?.(table);
    return table;
  }

  /** Returns the adapters of a process. */
  adapters(process: SimulatedProcess, skew = 0): Adapters {
    const { scheduler } = this.world;
    return {
      table: this.simulatedTable(process),
      blobs: new SimulatedBlobs(this.blobs, process, this.world),
      clock: scheduler.clockOf(process, skew),
      randomness: new SeededRandomness(`${process.name} ${scheduler.random.next()}`),
      managedKey: undefined,
      ...alarmAdapters,
    };
  }

  /** Applies lifecycle rules if a pass is due. */
  async applyLifecycle(adapters: Adapters): Promise<void> {
    const deps = lifecycleDeps(adapters);
    const wrong = this.fault.lifecycle?.(deps) ?? deps;
    if (isPassDue(await deps.passes.latest(), wrong.clock.now())) await applyLifecycle(wrong, lifecycleOptions);
  }

  /** Applies lifecycle rules by a pass that begins now, even if none is due, after the end of one that is not finished. */
  async applyLifecycleNow(adapters: Adapters): Promise<void> {
    const deps = lifecycleDeps(adapters);
    const latest = await deps.passes.latest();
    if (latest && latest.finishedAt === undefined) await applyLifecycle(deps, lifecycleOptions);
    await applyLifecycle(deps, lifecycleOptions);
  }
}

function stackOf(error: unknown): string {
  return error instanceof Error
    ? `${error.stack}${error.cause ? `, because of ${stackOf(error.cause)}` : ''}`
    : String(error);
}

/** With small pages, so that passes have many slices. */
const lifecycleOptions = {
  calendar: realDays,
  workers: 2,
  bounds: { keysPerPage: 3, pagesPerTurn: 2, enoughSlices: 4 },
};

/** A server with the services behind its pipeline. */
export interface SimulatedServer extends Server {
  readonly services: Services;
}

/** A running service: its processes, which may end at any moment, and are started again. */
export interface Deployment {
  /** The servers that are up. */
  readonly servers: readonly SimulatedServer[];
  /**
   * Ends a process as `kill -9` does, and starts another.
   * @returns whether all earlier requests have ended, so that no unanswered one can take effect later
   */
  kill(): Promise<boolean>;
  /** Resolves once all changes that were made before the call have been followed. */
  drain(): Promise<void>;
  /** Runs the scheduled work that is due: a lifecycle pass, release, purge. */
  tidy(): Promise<void>;
  /** Returns the adapters of a process for an operator. */
  readonly operator: Adapters;
}

/** Repeats some work in a process for as long as it lives, with pauses of about so many milliseconds. A failure is forgotten. */
export async function repeatedly(
  adapters: Adapters,
  every: () => number,
  work: () => Promise<unknown>,
): Promise<never> {
  for (;;) {
    await adapters.clock.sleep(every());
    await work().catch(() => undefined);
  }
}
