import { createServer as createHttpServer } from 'node:http';
import { createServer as createHttpsServer } from 'node:https';
import { Accounts } from '../../../shared/metadata/accounts/accounts.ts';
import { CryptoRandomness } from '../../../shared/adapters/system/crypto-randomness.ts';
import { SystemClock } from '../../../shared/adapters/system/system-clock.ts';
import { RequestMeter } from '../../../shared/metadata/billing/request-meter.ts';
import { Notifications } from '../../../shared/metadata/monitoring/notifications.ts';
import { BucketPurge } from '../../../shared/metadata/removal/bucket-purge.ts';
import { itemKey } from '../../../shared/metadata/table/keys.ts';
import { LifecyclePasses } from '../../../shared/metadata/lifecycle/lifecycle-passes.ts';
import { Release } from '../../../shared/metadata/removal/release.ts';
import { KeyedMutex } from '../../../shared/metadata/keyed-mutex.ts';
import { minute, second } from '../../../shared/ports/durations.ts';
import type { KeyValueTable } from '../../../shared/ports/key-value-table.ts';
import type { Randomness } from '../../../shared/ports/randomness.ts';
import { defaultLimits } from '../../../shared/protocol/limits.ts';
import { Pipeline } from '../../../shared/protocol/pipeline.ts';
import { operations } from '../../operations.ts';
import { Log } from '../telemetry/log.ts';
import { MeteredTelemetry } from '../telemetry/metered-telemetry.ts';
import { nodeHttpListener } from '../http/node-http.ts';
import { requestIds } from '../http/request-ids.ts';
import { feedFollowers } from '../compose/feed-followers.ts';
import { composeServices } from '../compose/services.ts';
import { TrustedProxies } from '../http/trusted-proxies.ts';
import { answerClientErrors } from '../http/client-errors.ts';
import { readAccountsFile } from './accounts-file.ts';
import { openData } from './data-directory.ts';
import { exactCounters } from './exact-counters.ts';
import { FeedRunner } from './feed-runner.ts';
import { clientSettings, ensureFirstKey } from './first-start.ts';
import { scheduleLifecycle } from './lifecycle-schedule.ts';
import { closing, listen } from '../http/listening.ts';
import { managedKey } from './managed-key.ts';
import { localActionKinds, scheduleMonitoring } from './monitoring-schedule.ts';
import { repeat } from './schedule.ts';
import { readTls, type StartOptions } from './settings.ts';

/** A running service. */
export interface LocalServer {
  /** `http://127.0.0.1:9000` */
  readonly url: string;
  /** Finishes the requests that are running, follows the change feed to its end, and closes the table. */
  stop(): Promise<void>;
  /** Resolves once it has stopped. */
  readonly stopped: Promise<void>;
}

/** How long counted requests lie in memory alone: a crash loses those, and no more. */
const meterTime = 5 * second;
/** After so long a stop cuts what still runs. */
const stopTime = 30 * second;

/** The composition root of the service on one machine: embedded table and blob store, streaming server, feed and schedules. */
export async function startLocalServer(options: StartOptions): Promise<LocalServer> {
  const tls = await readTls(options);
  const proxies = new TrustedProxies(options.trustProxy);
  const declared = options.accounts === undefined ? undefined : await readAccountsFile(options.accounts);

  const log = new Log(process.stdout);
  const clock = new SystemClock();
  const randomness = new CryptoRandomness();
  const { secrets, table, blobs } = await openData(options.data);

  const accounts = new Accounts({ table, secrets, clock });
  for (const project of declared ?? []) await accounts.ensure(project);

  const limits = { ...defaultLimits, ...options.limit };
  const settings = {
    region: options.region,
    xmlNamespace: options.xmlNamespace,
    allUsersGroupUri: options.allUsersGroupUri,
    publicUrl: options.publicUrl,
    regions: options.allowRegion,
    limits,
    tokenKey: await tokenKey(table, randomness),
  };
  const services = composeServices(
    {
      table,
      blobs,
      clock,
      randomness,
      managedKey: await managedKey(table, secrets, randomness),
      secrets,
      mutex: new KeyedMutex(),
      actionKinds: localActionKinds,
    },
    // The feed begins to run below, before the first request.
    { projects: accounts, settings, counters: (usage) => exactCounters(usage, { drain: () => feed.drain() }, limits) },
  );
  const { uploads } = services;
  const release = new Release({
    table,
    blobs,
    clock,
    randomness,
    manifests: services.contents.manifests,
    uploads,
  });
  const bucketPurge = new BucketPurge({ table, uploads, clock, randomness });
  const feed = new FeedRunner(table, feedFollowers({ table, clock, randomness, uploads }), log);
  const sweeper = repeat(minute, () => release.sweep(), log, 'freeing released content failed');
  const lifecycle = scheduleLifecycle(
    { ...services, passes: new LifecyclePasses({ table, clock, randomness }) },
    options.lifecycleDaySeconds,
    log,
  );
  const notifications = new Notifications({ table, clock, randomness, secrets, history: services.monitoring.history });
  const monitoring = scheduleMonitoring(
    { ...services, notifications, telemetry: log, region: options.region },
    options,
  );
  const purgeSchedule = repeat(minute, () => bucketPurge.sweep(), log, 'sweeping removed buckets failed');
  const meter = new RequestMeter({ table, clock, randomness });
  const meterReader = repeat(meterTime, () => meter.flush(), log, 'writing down the requests for the bill failed');
  const linkSweeper = repeat(minute, () => services.publicLinks.sweep(), log, 'sweeping public links failed');

  const requestId = requestIds(randomness);
  const hostId = Buffer.from(randomness.bytes(12)).toString('base64url');
  const pipeline = new Pipeline({
    services,
    operations,
    accessKeys: accounts,
    telemetry: new MeteredTelemetry(log, meter),
    hostNames: { domain: options.domain.toLowerCase(), websiteDomain: options.websiteDomain.toLowerCase() },
    signing: { version2: options.signatureV2, ...(options.strictRegion && { strictRegion: options.region }) },
    requestId,
    hostId,
  });

  const listener = nodeHttpListener(pipeline, {
    proxies,
    limits,
    keepAlive: () => server.listening,
    telemetry: log,
  });
  const serverOptions = {
    maxHeaderSize: 64 * 1024,
    requestTimeout: limits.requestDuration,
    // Looked at often enough that a short limit is kept, too.
    connectionsCheckingInterval: Math.min(30_000, Math.ceil(limits.requestDuration / 4)),
    noDelay: true,
    // A request without Host is refused like any other.
    requireHostHeader: false,
  };
  const server = tls
    ? createHttpsServer({ ...serverOptions, ...tls }, listener)
    : createHttpServer(serverOptions, listener);
  // Node would leave out what comes after a thousand fields, and say nothing. maxHeaderSize bounds them.
  server.maxHeadersCount = 0;
  server.keepAliveTimeout = 65 * second;
  server.on('checkContinue', listener).on('checkExpectation', listener);
  answerClientErrors(server, { telemetry: log, requestId, hostId });
  const closeServer = closing(server);
  const url = await listen(server, options, tls !== undefined);
  await ensureFirstKey({ table, accounts, randomness }, declared !== undefined, (key) => {
    process.stderr.write(clientSettings(key, url, options.region));
  });

  const close = async (): Promise<void> => {
    await closeServer(stopTime);
    const schedules = [monitoring, lifecycle, sweeper, purgeSchedule, linkSweeper, meterReader];
    await Promise.all(schedules.map((schedule) => schedule.stop()));
    await meter.flush();
    await feed.stop();
    await Promise.all([table.close(), blobs.close()]);
    log.note('stopped');
    log.flush();
  };
  let stopping: Promise<void> | undefined;
  const stop = (): Promise<void> => (stopping ??= close());
  const stopped = new Promise<void>((resolve, reject) => {
    for (const signal of ['SIGTERM', 'SIGINT'] as const) {
      process.once(signal, () => {
        stop().then(resolve, reject);
      });
    }
  });

  process.stderr.write(`Stillage is listening on ${url}\n`);
  return { url, stop, stopped };
}

/** The key that binds continuation tokens to this deployment: made once. */
async function tokenKey(table: KeyValueTable, randomness: Randomness): Promise<Uint8Array> {
  const key = itemKey.deployment('token-key');
  await table.write([{ key, put: { value: randomness.bytes(32) }, expect: { is: 'absent' } }]);
  return (await table.get(key))!['value'] as Uint8Array;
}
