import { Accounts, type ProjectDeclaration } from '../../shared/accounts/accounts.ts';
import { AuditLog } from '../../shared/audit/audit-log.ts';
import { EventBacklog } from '../../shared/events/backlog.ts';
import { EventDeliveries } from '../../shared/events/event-deliveries.ts';
import { EventQueue } from '../../shared/events/event-queue.ts';
import { EventTargets } from '../../shared/events/event-targets.ts';
import { WebhookTargets } from '../../shared/events/webhook-targets.ts';
import { KeyUses } from '../../shared/accounts/key-uses.ts';
import { RequestMeter } from '../../shared/billing/request-meter.ts';
import type { Amount } from '../../shared/storage/amount.ts';
import { KeyedMutex } from '../../shared/storage/concurrency.ts';
import { garbagePartitions, itemKey } from '../../shared/storage/table/keys/keys.ts';
import { settled } from '../../shared/storage/table/settled.ts';
import { LifecyclePasses } from '../../shared/lifecycle/lifecycle-passes.ts';
import { Notifications } from '../../shared/monitoring/alarms/notifications.ts';
import { ExactQuotas } from '../../shared/storage/quotas/exact-quotas.ts';
import { FullBuckets } from '../../shared/storage/quotas/flagged-quotas.ts';
import { countedByQuota } from '../../shared/storage/quotas/quotas.ts';
import type { Usage } from '../../shared/storage/quotas/usage.ts';
import { keepLockTime } from '../../shared/storage/table/lock-clock.ts';
import { BucketPurge } from '../../shared/storage/removal/bucket-purge.ts';
import { Readers } from '../../shared/storage/removal/readers.ts';
import { Release } from '../../shared/storage/removal/release.ts';
import type { BlobStore } from '../../shared/ports/blob-store.ts';
import type { Clock } from '../../shared/ports/clock.ts';
import { hour, minute, second } from '../../shared/ports/durations.ts';
import { isDiskFull } from '../../shared/ports/exhausted.ts';
import type { ChangeFeed, FeedRecord, KeyValueTable } from '../../shared/ports/key-value-table.ts';
import type { Randomness } from '../../shared/ports/randomness.ts';
import type { Secrets } from '../../shared/ports/secrets.ts';
import type { Telemetry } from '../../shared/ports/telemetry.ts';
import type { WebReader } from '../../shared/ports/web-reader.ts';
import type { WebhookCaller, WebhookGuard } from '../../shared/ports/webhook-caller.ts';
import type { Capacity } from '../../shared/protocol/bodies/capacity/admission.ts';
import type { DigestThreads } from '../../shared/protocol/bodies/body-digests.ts';
import { defaultLimits, type Limits } from '../../shared/protocol/limits.ts';
import type { Services, Settings } from '../../shared/protocol/operation.ts';
import type { AccessLog } from '../../shared/protocol/access-log/access-log.ts';
import { Pipeline } from '../../shared/protocol/pipeline.ts';
import { RateLimit, type Rates } from '../../shared/protocol/rate-limit.ts';
import { operations } from '../../functions/operations.ts';
import { feedFollowers } from '../../functions/compose/follow-changes.ts';
import { composeServices, type Counters } from '../../functions/compose/services.ts';
import { requestIds } from '../../shared/node-http/request-ids.ts';
import { MeteredTelemetry } from '../../shared/telemetry/charged-telemetry.ts';
import { heldUntil } from './backup/backup-leases.ts';
import { startAccessLogs, type AccessLogs, type LogKeeper } from './schedules/access-logs.ts';
import { FeedRunner } from './schedules/feed-runner.ts';
import { ensureInitialState } from './first-start/initial-buckets.ts';
import { scheduleLifecycle } from './schedules/lifecycle-schedule.ts';
import { managedKey } from './first-start/managed-key.ts';
import { localActionKinds } from './administration/service-settings.ts';
import { scheduleMonitoring } from './schedules/monitoring-schedule.ts';
import { keepGrace } from './release/release-grace.ts';
import { ReleaseSchedule } from './release/release-schedule.ts';
import { ServiceReaders } from './release/service-readers.ts';
import { repeat } from './schedules/schedule.ts';
import { scheduleScrub, type BlobParts } from './schedules/background-scrub.ts';
import type { ServiceActions } from './data-directory/service-socket.ts';
import { UsageError } from '../../shared/errors/operator-error.ts';
import type { LogState } from '../../shared/telemetry/log-output.ts';
import type { StartOptions } from '../../shared/command-line/start-options.ts';
import { webhookCaller } from './webhook-caller.ts';
import { Duty } from './many-machines/duty.ts';
import { SettledQuotas } from './processes/settled-quotas.ts';

/** The time for which counted requests are in memory only. A crash loses no older ones. */
const meterTime = 5 * second;
/** The time after which deliveries notice what another process has done: a command replays events or removes a webhook. */
const sweepTime = 10 * second;
/** The number of queue entries whose content is freed after one wait for readers, in each partition of the queue. */
const releasePage = 1000;

/** The least time for which released content is kept if other servers may be reading it. */
const graceOfMany = hour;

/** The stores of a service: those of a data directory, or in memory. */
export interface Stores {
  readonly secrets: Secrets;
  readonly table: KeyValueTable & ChangeFeed;
  readonly blobs: (BlobStore | BlobParts) & { close(): Promise<void> | void };
}

export interface EmbeddedDeps extends Stores {
  readonly clock: Clock;
  readonly randomness: Randomness;
  readonly telemetry: Telemetry;
  /** Projects, users and keys to create before the first request. */
  readonly declared?: readonly ProjectDeclaration[] | undefined;
  /** Compute digests of large bodies. */
  readonly digestThreads?: DigestThreads | undefined;
  /** The bodies that may be in progress. Default: any number. */
  readonly capacity?: Capacity | undefined;
  /** The log of this process, if it writes one itself. */
  readonly logState?: LogState | undefined;
  /** Set in a worker: the services of its primary process, which also follows the feed and runs the schedules. */
  readonly primary?: Primary;
  /** Set if servers on other machines use the same stores: one of them follows the feed and runs the schedules for all. */
  readonly isShared?: boolean | undefined;
  /** Calls webhooks. Default: over the network, as the options permit. */
  readonly caller?: (WebhookCaller & WebhookGuard & WebReader) | undefined;
  /** Set in a primary process: resolves once its workers have reported the writes that they have finished, false if one does not answer. */
  readonly settle?: (() => Promise<boolean>) | undefined;
}

/** The services that a primary process offers to its workers. */
interface Primary {
  readonly mutex: Pick<KeyedMutex, 'run'>;
  readonly counters: (usage: Usage, limits: Limits) => Counters;
  /** Returns undefined if request rates are not limited. */
  readonly rates: (limits: Limits) => Rates | undefined;
  /** Tells whether lines of the log can be written. */
  readonly logIsWritten: () => Promise<boolean>;
  /** Called when a request ends in 503, since a store could not serve it. */
  readonly refused: (isDiskFull: boolean) => void;
  /** Takes records of access logs. */
  readonly logKeeper: LogKeeper;
}

/** What is known of the delivery of events. */
export interface DeliveryState {
  readonly backlog: EventBacklog;
  /** Returns when the oldest event that waits came into its queue, in milliseconds since the epoch. */
  readonly oldest: () => number | undefined;
}

/** A service without a listener: its pipeline and its schedules. */
export interface EmbeddedService {
  readonly pipeline: Pipeline;
  readonly accounts: Accounts;
  readonly services: Services;
  readonly limits: Limits;
  /** Returns an id for a request that does not reach the pipeline. */
  readonly requestId: () => string;
  /** Takes acts down, unless the options turn that off. */
  readonly audit: AuditLog | undefined;
  readonly hostId: string;
  /** Origins of consoles, whose pages may call every operation. More may be added before the first request. */
  readonly consoleOrigins: Set<string>;
  /** State that a primary process shares with its workers. */
  readonly kept: {
    readonly mutex: KeyedMutex;
    readonly rates: RateLimit;
    readonly drain: () => Promise<void>;
    /** The requests of all processes. */
    readonly serviceReaders: ServiceReaders;
    /** Tells that a store could not serve a request. */
    readonly refused: (isDiskFull: boolean) => void;
    /** Takes records of access logs. */
    readonly logKeeper: LogKeeper;
  };
  /** Returns what has become of the records of access logs; undefined in a worker. */
  readonly accessLogs: AccessLogs['state'];
  /** The data that requests of this process may still read. */
  readonly readers: Readers;
  /** The delivery of events; undefined in a worker. */
  readonly events: DeliveryState | undefined;
  /** The actions for administrative commands, which run in other processes. */
  readonly actions: ServiceActions;
  /** Follows the change feed to its end, and closes table and blobs. Call it when no request is running. */
  close(): Promise<void>;
  /** Closes table and blobs without following the change feed, for a service whose data is discarded. */
  abandon(): Promise<void>;
  /** Ends all background work without waiting for it, once the table can no longer be used: closing it could wait for ever. */
  halt(): void;
}

/**
 * Composes a service of one machine, creates its initial state and starts its schedules.
 * @throws OperatorError
 */
export async function composeEmbeddedService(deps: EmbeddedDeps, options: StartOptions): Promise<EmbeddedService> {
  const { secrets, table, blobs, clock, randomness, telemetry, primary, logState } = deps;
  if (options.domain.toLowerCase() === options.websiteDomain.toLowerCase()) {
    throw new UsageError('--website-domain must differ from --domain: one host cannot be an API and a website');
  }
  const mutex = new KeyedMutex();
  const accounts = new Accounts({ table, secrets, clock });

  const limits = { ...defaultLimits, ...options.limit };
  const settings = {
    region: options.region,
    xmlNamespace: options.xmlNamespace,
    allUsersGroupUri: options.allUsersGroupUri,
    publicUrl: options.publicUrl,
    console: consoleOf(options),
    regions: options.allowRegion,
    lifecycleDaySeconds: options.lifecycleDaySeconds,
    limits,
    tokenKey: await tokenKey(table, randomness),
    ephemeral: options.ephemeral,
  };
  const drain = async (): Promise<void> => background?.feed.drain();
  // Exact, as they drain the feed first.
  const ownCounters = (usage: Usage): Counters => {
    // Twice: the first drain removes the parts of ended uploads, and the second one counts the removals.
    const held = (bucketId: string): Promise<Amount> =>
      drain()
        .then(drain)
        .then(async () => countedByQuota(await usage.of(bucketId)));
    const quotas = new ExactQuotas(held, defaultQuota(limits));
    return {
      usage: { of: (bucketId) => drain().then(() => usage.of(bucketId)) },
      quotas: deps.settle ? new SettledQuotas(quotas, deps.settle) : quotas,
    };
  };
  const stopping = new AbortController();
  const caller = deps.caller ?? webhookCaller(options, stopping.signal);
  const webhooks = new WebhookTargets({ table, clock, randomness, secrets });
  const services = composeServices(
    {
      table,
      blobs,
      clock,
      randomness,
      managedKey: await managedKey(table, secrets, randomness),
      secrets,
      mutex: primary?.mutex ?? mutex,
      actionKinds: localActionKinds,
    },
    // `background` is set below, before the first request.
    {
      projects: accounts,
      settings,
      // Of many servers, none knows what the others are writing.
      ...(!deps.isShared && { counters: (usage) => primary?.counters(usage, limits) ?? ownCounters(usage) }),
      logIsWritten: primary?.logIsWritten ?? (logState && (() => Promise.resolve(logState.isWritten))),
      eventTargets: new EventTargets({ webhooks, queue: new EventQueue({ table, randomness }), caller }),
      deliversAccessLogs: true,
      webReader: caller,
    },
  );
  if (!primary) {
    await ensureInitialState({ accounts, buckets: services.buckets }, { ...options, declared: deps.declared });
  }
  const requestId = requestIds(randomness);
  const hostId = Buffer.from(randomness.bytes(12)).toString('base64url');
  const accessLogs = startAccessLogs(
    { services, accessKeys: accounts, clock, randomness, telemetry, hostId, requestId, primary: primary?.logKeeper },
    options,
  );
  const readers = new Readers();
  const serviceReaders = new ServiceReaders(readers, clock);
  let background: Background | undefined;
  const begin = async (): Promise<Background> => {
    // Those of a former time with the duty have been stopped.
    const ofServers = deps.isShared ? new ServiceReaders(readers, clock) : serviceReaders;
    const more = { serviceReaders: ofServers, webhooks, caller, limits, accessLog: accessLogs.log };
    return (background = await startBackground({ ...deps, ...more }, services, options));
  };
  const duty = deps.isShared ? new Duty(deps, begin) : undefined;
  if (duty) await duty.beat();
  else if (!primary) await begin();
  const meter = new RequestMeter({ table, clock, randomness });
  const { lastUses } = services;
  const save = async (): Promise<void> => void (await Promise.all([meter.flush(), lastUses.flush()]));
  const meterReader = repeat(meterTime, clock, save, telemetry, 'saving request counts failed');
  const ownRates = new RateLimit(limits.requestsPerSecond, clock);
  const rates = primary?.rates(limits) ?? ownRates;
  const freeEarly = (isFull: boolean): void => {
    // What other servers read is known to none: it is theirs until the grace period is over.
    if (!deps.isShared) background?.releases.refused(isFull);
  };
  const refused = primary?.refused ?? freeEarly;
  const consoleOrigins = new Set(options.consoleOrigin);
  // One process forgets what is too old, for all.
  const audit =
    options.auditDays === 0
      ? undefined
      : new AuditLog(
          { table, clock, randomness },
          primary ? undefined : options.auditDays,
          (records) => telemetry.note(`${records} audit records were lost: too many acts, or the table did not answer`),
          options.auditStrict,
        );
  const auditing = audit && repeat(second, clock, () => audit.flush(), telemetry, 'writing audit records failed');
  const pipeline = new Pipeline({
    services,
    audit,
    accessLog: accessLogs.log,
    keyUses: new KeyUses({ clock, note: (use) => lastUses.add(use) }),
    operations,
    accessKeys: accounts,
    telemetry: new MeteredTelemetry(telemetry, meter),
    hostNames: { domain: options.domain.toLowerCase(), websiteDomain: options.websiteDomain.toLowerCase() },
    signing: { version2: options.signatureV2, ...(options.strictRegion && { strictRegion: options.region }) },
    consoleOrigins,
    rates,
    digestThreads: deps.digestThreads,
    capacity: deps.capacity,
    readers,
    onRefusal: (error) => refused(isDiskFull(error)),
    requestId,
    hostId,
  });

  const stopSchedules = async (): Promise<void> => {
    stopping.abort();
    await duty?.end();
    await Promise.all([background?.stop(), meterReader.stop(), auditing?.stop(), accessLogs.stop()]);
  };
  const closeStores = async (): Promise<void> => {
    await Promise.all([table.close(), blobs.close()]);
  };
  return {
    pipeline,
    accounts,
    services,
    limits,
    requestId,
    audit,
    hostId,
    consoleOrigins,
    kept: { mutex, rates: ownRates, drain, serviceReaders, refused, logKeeper: accessLogs.keeper },
    accessLogs: accessLogs.state,
    readers,
    get events() {
      return background && { backlog: background.backlog, oldest: () => background!.deliveries.oldest };
    },
    actions: {
      release: async () => background?.releases.now({ early: true }),
      sweep: async () => background?.releases.now({ early: false }),
    },
    close: async () => {
      await stopSchedules();
      // On a full disk, counts are lost and the rest of the feed waits for the next start.
      await save().catch((error: unknown) => telemetry.problem('saving request counts failed', error));
      // Their objects are changes, which are followed below.
      await accessLogs.flush().catch((error: unknown) => telemetry.problem('delivering access logs failed', error));
      await audit?.flush().catch((error: unknown) => telemetry.problem('writing audit records failed', error));
      const feed = background?.feed;
      await feed?.stop().catch((error: unknown) => {
        feed.abandon();
        telemetry.problem('following the change feed failed', error);
      });
      await duty?.release();
      await closeStores();
    },
    halt: () => {
      background?.feed.abandon();
      void stopSchedules();
    },
    abandon: async () => {
      background?.feed.abandon();
      await stopSchedules();
      await closeStores();
    },
  };
}

interface Background {
  readonly feed: FeedRunner;
  readonly releases: ReleaseSchedule;
  readonly deliveries: EventDeliveries;
  readonly backlog: EventBacklog;
  stop(): Promise<void>;
  /** Ends it without following the remaining changes. */
  halt(): void;
}

/** Starts following the feed and the scheduled work. */
async function startBackground(
  deps: EmbeddedDeps & {
    readonly serviceReaders: ServiceReaders;
    readonly webhooks: WebhookTargets;
    readonly caller: WebhookCaller;
    readonly limits: Limits;
    readonly accessLog: AccessLog;
  },
  services: ReturnType<typeof composeServices>,
  options: StartOptions,
): Promise<Background> {
  const { secrets, table, blobs, clock, randomness, telemetry, serviceReaders: readers } = deps;
  const { objects, uploads } = services;
  const { manifests } = services.contents;
  const concurrency = { partitions: garbagePartitions, entries: 8, page: releasePage };
  const release = new Release({ table, blobs, clock, randomness, manifests, uploads, readers, concurrency });
  const bucketPurge = new BucketPurge({ table, objects, uploads, clock });
  const grace = deps.isShared ? Math.max(options.releaseGrace, graceOfMany) : options.releaseGrace;
  await keepGrace(table, grace);
  const { limits, accessLog } = deps;
  const backlog = new EventBacklog();
  const queue = new EventQueue(deps);
  const retryTime = limits.eventRetryTime;
  const calls = new RateLimit(limits.webhookCallsPerSecond, clock);
  const pace = (project: string): number => calls.take(project);
  const deliveries = new EventDeliveries({ ...deps, queue, backlog, pace, retryTime });
  await deliveries.count();
  const wake = (ids: ReadonlySet<string>): void => ids.forEach((id) => deliveries.wake(id));
  const delivery = { backlog, limit: limits.eventBacklogBytes, wake };
  const full = new FullBuckets({ table, ...services, defaults: defaultQuota(limits) });
  const followers = [
    ...feedFollowers({ table, secrets, clock, randomness, uploads, grace, delivery }),
    // What one server counts exactly, many know by a flag.
    ...(deps.isShared ? [(batch: readonly FeedRecord[]) => full.follow(batch)] : []),
    async () => releases.soon(),
  ];
  const feed: FeedRunner = new FeedRunner(table, followers, { clock, telemetry });
  const releases: ReleaseSchedule = new ReleaseSchedule({
    release,
    readers,
    drain: () => feed.drain(),
    blobs,
    isHeld: async () => (await heldUntil(table, clock.now())) > -Infinity,
    clock,
    telemetry,
  });
  const passes = new LifecyclePasses({ table, clock, randomness });
  const notifications = new Notifications({ table, clock, randomness, secrets, history: services.monitoring.history });
  const schedules = [
    repeat(
      minute,
      clock,
      () => keepLockTime({ table, clock, randomness }),
      telemetry,
      'keeping the time of locks failed',
    ),
    repeat(minute, clock, () => bucketPurge.sweep(), telemetry, 'sweeping removed buckets failed'),
    repeat(minute, clock, () => services.publicLinks.sweep(), telemetry, 'sweeping public links failed'),
    repeat(sweepTime, clock, () => deliveries.sweep(), telemetry, 'looking for events to deliver failed'),
    deliveries,
    scheduleLifecycle({ ...services, passes, observe: (act) => accessLog.lifecycle(act) }, options, telemetry),
    scheduleMonitoring({ ...services, notifications, telemetry, region: options.region }, options),
    // A store in memory has no disk that could damage it.
    ...('listPart' in blobs ? [scheduleScrub({ table, blobs, clock, telemetry }, options.scrubRate)] : []),
  ];
  // On a disk that is full already, the first writes find room.
  releases.refused(false);
  // What a former process has left.
  void deliveries.sweep().catch((error: unknown) => telemetry.problem('looking for events to deliver failed', error));
  const stop = async (): Promise<void> => {
    await Promise.all([releases, ...schedules].map((schedule) => schedule.stop()));
  };
  const halt = (): void => {
    feed.abandon();
    void stop();
  };
  return { feed, releases, deliveries, backlog, stop, halt };
}

/** Returns the quota of buckets that have none of their own. */
function defaultQuota({ bucketBytes, bucketObjects }: Limits): Amount {
  return { bytes: bucketBytes, objects: bucketObjects };
}

function consoleOf({ consoleUrl: url, consolePort: port, ephemeral }: StartOptions): Settings['console'] {
  if (url !== undefined) return { url };
  return port === 0 || ephemeral ? undefined : { port };
}

/** Returns the key that binds continuation tokens to this deployment, created on first use. */
async function tokenKey(table: KeyValueTable, randomness: Randomness): Promise<Uint8Array> {
  const key = itemKey.deployment('token-key');
  await settled(table.write([{ key, put: { value: randomness.bytes(32) }, expect: { is: 'absent' } }]));
  return (await table.get(key))!['value'] as Uint8Array;
}
