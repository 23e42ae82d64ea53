import type { AccessKeys } from '../../../shared/access/identity.ts';
import type { Clock } from '../../../shared/ports/clock.ts';
import { second } from '../../../shared/ports/durations.ts';
import type { Randomness } from '../../../shared/ports/randomness.ts';
import type { Telemetry } from '../../../shared/ports/telemetry.ts';
import { AccessLog } from '../../../shared/protocol/access-log/access-log.ts';
import { LogDelivery, type LogCounts } from '../../../shared/protocol/access-log/log-delivery.ts';
import { LogSpool, type LogBatch } from '../../../shared/protocol/access-log/log-spool.ts';
import type { Services } from '../../../shared/protocol/operation.ts';
import type { StartOptions } from '../../../shared/command-line/start-options.ts';
import { onTheClock, repeat } from './schedule.ts';

const MiB = 1024 * 1024;
/** Records that wait in a process, in bytes. */
const most = 16 * MiB;
/** The same of one destination, and how many of it are delivered before their time. */
const [mostOfOne, early] = [8 * MiB, 4 * MiB];
/** How often a worker hands its records over. */
const handOverTime = second / 2;

/** What a primary does with the records of its workers. */
export interface LogKeeper {
  /** Takes records. Resolves once it has them. */
  keep(batch: LogBatch): Promise<void>;
  /** Counts records that are lost. */
  drop(reason: string, records: number): void;
}

/** What has become of records, and the bytes of those that wait. */
export interface AccessLogState extends LogCounts {
  readonly waitingBytes: number;
}

/** The access logs of a process. */
export interface AccessLogs {
  readonly log: AccessLog;
  /** Takes the records of workers. */
  readonly keeper: LogKeeper;
  /** Returns what has become of the records of all processes; undefined in a worker. */
  readonly state: (() => AccessLogState) | undefined;
  /** Ends the schedule. */
  stop(): Promise<void>;
  /** Delivers what there is, or hands it over. Call it when no request is running. */
  flush(): Promise<void>;
}

interface Deps {
  readonly services: Services;
  readonly accessKeys: AccessKeys;
  readonly clock: Clock;
  readonly randomness: Randomness;
  readonly telemetry: Telemetry;
  readonly hostId: string;
  readonly requestId: () => string;
  /** Set in a worker: takes its records. */
  readonly primary: LogKeeper | undefined;
}

/** Starts taking down requests, and delivering what was taken down. The primary delivers for all processes, so that there is one object. */
export function startAccessLogs(deps: Deps, options: StartOptions): AccessLogs {
  const { services, clock, telemetry, primary } = deps;
  const spool = new LogSpool(most, mostOfOne);
  const recording = (add: (batch: LogBatch) => void): AccessLog =>
    new AccessLog({ ...deps, buckets: services.buckets, sourceRegion: options.accessLogSourceRegion, add });
  if (primary) {
    const log = recording((batch) => {
      if (spool.add(batch) === undefined) primary.drop('NoRoom', batch.records);
    });
    const handOver = async (): Promise<void> => {
      await log.settle();
      for (const to of spool.destinations()) {
        for (const batch of spool.take(to)) await primary.keep(batch);
      }
    };
    const schedule = repeat(handOverTime, clock, handOver, telemetry, 'handing access logs over failed');
    return { log, keeper: primary, state: undefined, stop: () => schedule.stop(), flush: handOver };
  }
  const delivery = new LogDelivery({ ...deps, spool, early });
  const log = recording((batch) => delivery.add(batch));
  const deliver = async (): Promise<void> => {
    await log.settle();
    await delivery.deliver();
  };
  const schedule = onTheClock(options.accessLogInterval, clock, deliver, telemetry, 'delivering access logs failed');
  return {
    log,
    keeper: {
      keep: async (batch) => delivery.add(batch),
      drop: (reason, records) => delivery.drop(reason, records),
    },
    state: () => ({ ...delivery.counts, waitingBytes: spool.bytes }),
    stop: () => schedule.stop(),
    flush: deliver,
  };
}
