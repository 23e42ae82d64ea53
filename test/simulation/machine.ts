import { composeEmbeddedService, type EmbeddedService } from '../../local/server/embedded-service.ts';
import { defaultOptions, type StartOptions } from '../../shared/command-line/start-options.ts';
import type { Adapters } from '../../functions/compose/services.ts';
import type { ChangeFeed, FeedRecord } from '../../shared/ports/key-value-table.ts';
import { settings, type Deployment, type SimulatedServer, type Stores } from './deployment.ts';
import { host } from './network.ts';
import type { SimulatedProcess } from './scheduler.ts';
import { declarations } from './tenants.ts';

/** The time in milliseconds after which all clients of a killed process know that their connections are broken. */
const cutOff = 100;

const options: StartOptions = {
  ...defaultOptions,
  domain: host,
  websiteDomain: `website.${host}`,
  consoleOrigin: [],
  trustProxy: [],
  limit: { minimumPartBytes: settings.limits.minimumPartBytes },
  releaseGrace: 0,
};

/** The service of one machine, as `stillage start` composes it: one process, which is killed and started again. */
export class MachineDeployment implements Deployment {
  readonly operator: Adapters;
  readonly #stores: Stores;
  #process: SimulatedProcess | undefined;
  #service: EmbeddedService | undefined;
  /** The feed keeps records that come after this one. */
  #trimmed = 0;

  private constructor(stores: Stores) {
    this.#stores = stores;
    this.operator = stores.adapters(stores.process('operator'));
  }

  static async start(stores: Stores): Promise<MachineDeployment> {
    const machine = new MachineDeployment(stores);
    await machine.#start();
    return machine;
  }

  get servers(): readonly SimulatedServer[] {
    if (this.#process === undefined || this.#service === undefined) return [];
    return [{ process: this.#process, pipeline: this.#service.pipeline, services: this.#service.services }];
  }

  async kill(): Promise<boolean> {
    if (this.#process === undefined) return false;
    this.#process.kill();
    this.#process = undefined;
    this.#service = undefined;
    await this.operator.clock.sleep(cutOff);
    void this.#start();
    return true;
  }

  async drain(): Promise<void> {
    // Twice, as local/server/embedded-service.ts.
    for (let times = 0; times < 2; times += 1) await (await this.#running()).kept.drain();
  }

  async tidy(): Promise<void> {
    await this.#stores.applyLifecycleNow(this.operator);
    await this.drain();
    await (
      await this.#running()
    ).actions['sweep']!();
  }

  async #running(): Promise<EmbeddedService> {
    while (this.#service === undefined) await this.operator.clock.sleep(50);
    return this.#service;
  }

  /** Starts the service, again and again until it has started: a process manager would do so. */
  async #start(): Promise<void> {
    for (;;) {
      const process = this.#stores.process('service');
      const { blobs, secrets, ...adapters } = this.#stores.adapters(process);
      const deps = {
        ...adapters,
        ...{ secrets, telemetry: this.#stores.telemetry(process), declared: declarations },
        table: Object.assign(adapters.table, this.#feed(process)),
        blobs: Object.assign(blobs, { close: () => Promise.resolve() }),
        caller: this.#stores.receiver.callerOf(process),
      };
      try {
        const service = await composeEmbeddedService(deps, options);
        Object.assign(service.services, this.#stores.fault.services?.(service.services));
        this.#process = process;
        this.#service = service;
        return;
      } catch {
        process.kill();
      }
    }
  }

  /** A process's access to the log of changes. */
  #feed(process: SimulatedProcess): ChangeFeed {
    const { world, table, fault } = this.#stores;
    const { scheduler, adversity } = world;
    const call = <Result>(label: string, effect: () => Result): Promise<Result> =>
      scheduler.call(process, `${process.name}: ${label}`, adversity.now.latency, effect);
    return {
      read: (after, limit) =>
        call('reads the feed', () => {
          const from = Math.max(this.#trimmed, Number(after ?? 0));
          const records = table.feed
            .slice(from, from + limit)
            .map((record): FeedRecord => ({ ...record, shardId: 'table' }));
          const last = records.at(-1);
          const left = fault.feed?.(records) ?? records;
          // A batch is trimmed up to its last record.
          return last === undefined || left.includes(last) ? left : [...left, last];
        }),
      newest: () => table.feed.at(-1)?.position,
      trim: (upTo) => call('trims the feed', () => void (this.#trimmed = Math.max(this.#trimmed, Number(upTo)))),
      subscribe: (listener) => {
        const unsubscribe = table.onFollowedChange(() => {
          scheduler.after(0, `${process.name} hears of changes`, () => process.isAlive && listener());
        });
        process.atEnd(unsubscribe);
        return unsubscribe;
      },
    };
  }
}
