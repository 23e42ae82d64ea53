import { crc32c, crc64Nvme } from '../../shared/checksums/wasm-crc.ts';
import { Accounts } from '../../shared/accounts/accounts.ts';
import { day, hour, second } from '../../shared/ports/durations.ts';
import { TooManyConfigurations } from '../linearizability/checker.ts';
import { Workload } from '../linearizability/workload.ts';
import type { Send } from '../linearizability/exchange.ts';
import { CloudDeployment } from './cloud.ts';
import { Stores, type Deployment, type PlantedFault } from './deployment.ts';
import { Adversity, type Faults } from './faults.ts';
import { Expiry } from './expiry.ts';
import { Locks } from './locks.ts';
import { MachineDeployment } from './machine.ts';
import { Network } from './network.ts';
import { QuotaScenario } from './quotas.ts';
import { Rights } from './rights.ts';
import type { Scenario, Stage } from './scenario.ts';
import { Scheduler } from './scheduler.ts';
import { checkContents, checkRemains } from './settled.ts';
import { declarations, tenants } from './tenants.ts';
import { Told } from './told.ts';
import type { World } from './table.ts';

export type DeploymentKind = 'machine' | 'cloud';

/** The options of a simulation, which determine everything in it. */
export interface SimulationOptions {
  readonly seed: number;
  readonly deployment: DeploymentKind;
  /** At least so many. */
  readonly requests: number;
  readonly fault?: PlantedFault;
}

/** The amounts that were simulated. */
export interface SimulationReport {
  readonly requests: number;
  readonly events: number;
  readonly kills: number;
  /** Days of virtual time. */
  readonly days: number;
  /** Histories of groups of keys, of nine, that would take too long to check. */
  readonly unchecked: number;
  /** Stands for all events in order, and for every response. */
  readonly hash: string;
}

const faults: Readonly<Record<DeploymentKind, Faults>> = {
  machine: { busy: 0.001, lost: 0, blobs: 0.002, connections: 0.004, latency: { usual: 0.5, slow: 5, longest: 50 } },
  cloud: { busy: 0.003, lost: 0.003, blobs: 0.003, connections: 0.004, latency: { usual: 10, slow: 60, longest: 600 } },
};
/** Few histories need more, and those take long. */
const maxConfigurations = 5000;
const beginning = Date.UTC(2030, 0, 1, 7);
const requestsOfRound = 300;
/** On average. */
const requestsBetweenKills = 150;
/** No larger, so that most of the time is spent on work other than digests. */
const largestObject = 5000;
/** The time after its end in which a request may still have effects, in milliseconds. */
const settlingTime = 30 * second;

/** Simulates a service and its clients. @throws Error if a promise of the service is broken, with the last events */
export async function simulate(options: SimulationOptions): Promise<SimulationReport> {
  await Promise.all([crc32c.load(), crc64Nvme.load()]);
  const scheduler = new Scheduler(options.seed, { now: beginning });
  const adversity = new Adversity(faults[options.deployment]);
  const simulation = new Simulation(options, { scheduler, adversity });
  try {
    return await scheduler.run(simulation.run());
  } catch (error) {
    const { seed, deployment } = options;
    const events = scheduler.trace.slice(-100).join('\n');
    throw new Error(`seed ${seed}, ${deployment}: ${(error as Error).message}\nThe last events were:\n${events}`, {
      cause: error,
    });
  }
}

class Simulation {
  readonly #options: SimulationOptions;
  readonly #world: World;
  readonly #stores: Stores;
  readonly #workload: Workload;
  #kills = 0;

  constructor(options: SimulationOptions, world: World) {
    const { deployment, fault = {} } = options;
    this.#options = options;
    this.#world = world;
    this.#stores = new Stores(world, { freeChecks: deployment === 'machine', fault });
    this.#workload = new Workload(options.seed, largestObject);
  }

  async run(): Promise<SimulationReport> {
    const { scheduler, adversity } = this.#world;
    adversity.isOn = false;
    const deployment = await this.#deploy();
    const network = new Network(this.#world, () => {
      const { servers } = deployment;
      return servers.length === 0 ? undefined : scheduler.random.oneOf(servers);
    });
    const send: Send = (unsigned) => network.send(tenants.owner, unsigned, unsigned.method ?? 'GET');
    await this.#workload.prepare(send);
    const stage = { stores: this.#stores, deployment, network };
    const locks = new Locks(stage);
    const scenarios: Scenario[] = [new Rights(stage), new QuotaScenario(stage), new Expiry(stage), locks];
    // The cloud delivers no events.
    if (this.#options.deployment === 'machine') scenarios.push(new Told(stage));
    this.#stores.table.observe = (changes, by, before) => {
      try {
        for (const scenario of scenarios) scenario.observe(changes, by, before);
      } catch (error) {
        scheduler.fail(error as Error);
      }
    };
    for (const scenario of scenarios) await scenario.prepare();
    while (network.requests < this.#options.requests) {
      await this.#round(stage, scenarios, send);
      await this.#workload.audit(send);
      for (const scenario of scenarios) await scenario.check();
      await deployment.drain();
      await checkContents(stage);
      await scheduler.skip(scheduler.random.oneOf([0, hour, 5 * hour, day, 3 * day]) * scheduler.random.next());
    }
    await checkRemains(stage);
    await locks.check();
    await this.#workload.audit(send);
    const unchecked = this.#checkHistories();
    const { events, now, hash } = scheduler;
    return { requests: network.requests, events, kills: this.#kills, days: (now - beginning) / day, unchecked, hash };
  }

  /** Returns the number of histories that would take too long. @throws Error about one that no order of its requests explains */
  #checkHistories(): number {
    let unchecked = 0;
    for (const history of this.#workload.histories.groups) {
      try {
        const wrong = history.check({ maxConfigurations });
        if (wrong !== undefined) throw new Error(wrong);
      } catch (error) {
        if (!(error instanceof TooManyConfigurations)) throw error;
        unchecked += 1;
      }
    }
    return unchecked;
  }

  async #deploy(): Promise<Deployment> {
    if (this.#options.deployment === 'machine') return MachineDeployment.start(this.#stores);
    const deployment = new CloudDeployment(this.#stores);
    const accounts = new Accounts(deployment.operator);
    for (const declaration of declarations) await accounts.ensure(declaration);
    return deployment;
  }

  /** Some requests while all goes wrong that can. */
  async #round({ deployment, network }: Stage, scenarios: readonly Scenario[], send: Send): Promise<void> {
    const { adversity, scheduler } = this.#world;
    const { clock } = deployment.operator;
    const until = network.requests + requestsOfRound;
    const isOver = (): boolean => network.requests >= until;
    adversity.isOn = true;
    const kills = async (): Promise<void> => {
      for (let next = network.requests; !isOver(); await clock.sleep(10)) {
        if (network.requests < next) continue;
        this.#kills += 1;
        if (await deployment.kill()) this.#workload.histories.processEnded();
        next = network.requests + 2 * scheduler.random.next() * requestsBetweenKills;
      }
    };
    await Promise.all([
      this.#workload.run(() => ({ send, close: () => undefined }), isOver),
      ...scenarios.map((scenario) => scenario.run(isOver)),
      kills(),
    ]);
    adversity.isOn = false;
    await clock.sleep(settlingTime);
    this.#workload.histories.processEnded();
    await deployment.drain();
  }
}
