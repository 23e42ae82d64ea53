import type { Follower } from '../../functions/compose/follow-changes.ts';
import { lifecycleDeps } from '../../functions/compose/lifecycle.ts';
import { scrubDeps } from '../../functions/compose/scrub.ts';
import { operations } from '../../functions/operations.ts';
import { composeServices, type Adapters } from '../../functions/compose/services.ts';
import { requestIds } from '../../shared/node-http/request-ids.ts';
import { Accounts } from '../../shared/accounts/accounts.ts';
import { FullBuckets } from '../../shared/storage/quotas/flagged-quotas.ts';
import { UsageFold } from '../../shared/billing/usage-fold.ts';
import { UsageFollower } from '../../shared/billing/usage-follower.ts';
import { ReleaseQueue } from '../../shared/storage/removal/release-queue.ts';
import { followedPrefixes } from '../../shared/storage/table/keys/keys.ts';
import { day, hour, minute } from '../../shared/ports/durations.ts';
import { Pipeline } from '../../shared/protocol/pipeline.ts';
import { repeatedly, settings, type Deployment, type SimulatedServer, type Stores } from './deployment.ts';
import { everyLane, SimulatedStream } from './feed.ts';
import { host } from './network.ts';
import type { SimulatedProcess } from './scheduler.ts';

const numberOfServers = 3;
/** The default of a deployment: docs/cloud.md. */
const grace = day;
/** Clocks of AWS's machines agree to some milliseconds. */
const longestSkew = 20;

/** Starts a process and its work. */
type Start = () => SimulatedProcess;

/**
 * The service as it runs in the cloud: processes that know nothing of one another, a function for each follower of the feed, and background
 * functions. Composed as in functions/cloud, without the AWS SDK.
 */
export class CloudDeployment implements Deployment {
  readonly operator: Adapters;
  readonly #stores: Stores;
  readonly #stream: SimulatedStream;
  #servers: SimulatedServer[];
  /** The processes that are up, and how to start another one of the kind. */
  readonly #background = new Map<SimulatedProcess, Start>();

  constructor(stores: Stores) {
    this.#stores = stores;
    this.#stream = new SimulatedStream(stores.world, stores.table.feed, stores.fault.feed);
    this.operator = stores.adapters(stores.process('operator'));
    this.#servers = Array.from({ length: numberOfServers }, () => this.#startServer());
    for (const lane of everyLane) {
      this.#start(() => this.#startFollower('count-usage', lane, followedPrefixes.usage, usageFollowers));
      this.#start(() => this.#startFollower('release-content', lane, followedPrefixes.release, releaseFollowers));
    }
    this.#start(() => this.#startJob('sweep', 5 * minute, (adapters) => this.#sweep(adapters)));
    this.#start(() => this.#startJob('lifecycle', hour, (adapters) => stores.applyLifecycle(adapters)));
  }

  get servers(): readonly SimulatedServer[] {
    return this.#servers;
  }

  async kill(): Promise<boolean> {
    const { random } = this.#stores.world.scheduler;
    const victim = random.oneOf([...this.#servers.map(({ process }) => process), ...this.#background.keys()]);
    const again = this.#background.get(victim);
    victim.kill();
    if (again) {
      this.#background.delete(victim);
      this.#start(again);
    } else {
      this.#servers = [...this.#servers.filter(({ process }) => process !== victim), this.#startServer()];
    }
    return false;
  }

  async drain(): Promise<void> {
    while (!this.#stream.isDrained) await this.operator.clock.sleep(50);
  }

  async tidy(): Promise<void> {
    await this.#stores.applyLifecycleNow(this.operator);
    await this.#sweep(this.operator);
  }

  #start(start: Start): void {
    this.#background.set(start(), start);
  }

  #startServer(): SimulatedServer {
    const process = this.#stores.process('server');
    const adapters = this.#adapters(process);
    const accounts = new Accounts(adapters);
    const composed = composeServices(adapters, { projects: accounts, settings });
    const services = { ...composed, ...this.#stores.fault.services?.(composed) };
    const pipeline = new Pipeline({
      services,
      operations,
      accessKeys: accounts,
      telemetry: this.#stores.telemetry(process),
      hostNames: { domain: host, websiteDomain: `website.${host}` },
      signing: {},
      consoleOrigins: new Set(),
      requestId: requestIds(adapters.randomness),
      hostId: process.name,
    });
    return { process, pipeline, services };
  }

  #startFollower(
    name: string,
    lane: number,
    prefixes: readonly string[],
    followersOf: (adapters: Adapters) => readonly Follower[],
  ): SimulatedProcess {
    const process = this.#stores.process(`${name}-of-${lane}`);
    const adapters = this.#adapters(process);
    void this.#stream.read(name, lane, { process, clock: adapters.clock }, prefixes, followersOf(adapters));
    return process;
  }

  #startJob(name: string, every: number, work: (adapters: Adapters) => Promise<unknown>): SimulatedProcess {
    const { random } = this.#stores.world.scheduler;
    const process = this.#stores.process(name);
    const adapters = this.#adapters(process);
    void repeatedly(
      adapters,
      () => every * random.next(),
      () => work(adapters),
    );
    return process;
  }

  async #sweep(adapters: Adapters): Promise<void> {
    const { release, bucketPurge } = scrubDeps(adapters);
    await release.sweep();
    await bucketPurge.sweep();
  }

  #adapters(process: SimulatedProcess): Adapters {
    const { random } = this.#stores.world.scheduler;
    return this.#stores.adapters(process, random.below(2 * longestSkew) - longestSkew);
  }
}

/** As functions/cloud/background/count-usage.ts. */
function usageFollowers(adapters: Adapters): readonly Follower[] {
  const { buckets } = lifecycleDeps(adapters);
  const usage = new UsageFollower({ ...adapters, fold: new UsageFold({ ...adapters, shardLifetime: 2 * day }) });
  const { bucketBytes: bytes, bucketObjects: objects } = settings.limits;
  const full = new FullBuckets({ ...adapters, buckets, usage, defaults: { bytes, objects } });
  return [(batch) => usage.follow(batch), (batch) => full.follow(batch)];
}

/** As functions/cloud/background/release-content.ts. */
function releaseFollowers(adapters: Adapters): readonly Follower[] {
  const { uploads } = lifecycleDeps(adapters);
  const queue = new ReleaseQueue({ ...adapters, uploads, grace });
  return [(batch) => queue.follow(batch)];
}
