import { TableBusy, type Change, type Condition } from '../../shared/ports/key-value-table.ts';
import { eventKeyParts, eventPartition } from '../../shared/storage/table/keys/event-keys.ts';
import { day } from '../../shared/ports/durations.ts';
import type { Version } from '../../shared/storage/versions/versions.ts';
import type { PlantedFault } from './deployment.ts';
import type { DeploymentKind } from './simulation.ts';

/** A fault that the simulation must find. */
export interface KnownFault {
  readonly name: string;
  readonly deployment: DeploymentKind;
  readonly fault: PlantedFault;
  /** The message of the check that is there to find it. */
  readonly message: RegExp;
}

const isVersion = ({ key: { pk } }: Change): boolean => pk.startsWith('head/');
/** Without conditions, a former version is overwritten whatever its current state. */
const unconditional = ({ expect: _, ...change }: Change & { expect?: unknown }): Change => change;

const isEvent = (change: Change): boolean => 'put' in change && eventKeyParts.event(change.key) !== undefined;

const unlocked = ({ retention: _, legalHold: __, ...version }: Version): Version => version;

/** Faults of a kind that a careless change could bring, one for each promise. */
export const knownFaults: readonly KnownFault[] = [
  {
    name: 'writes of versions without their conditions',
    deployment: 'cloud',
    fault: {
      table: (table) => {
        const write = table.write.bind(table);
        table.write = (changes, conditions) =>
          write(changes.some(isVersion) ? changes.map(unconditional) : changes, conditions);
      },
    },
    message: /Nothing explains the answer|version chain .* is damaged|was answered 500|the counters of |is locked/,
  },
  {
    name: 'writes that are acknowledged before they are carried out',
    deployment: 'machine',
    fault: {
      table: (table) => {
        const write = table.write.bind(table);
        table.write = async (changes, conditions) => {
          if (!changes.some(isVersion)) return write(changes, conditions);
          write(changes, conditions).catch(() => undefined);
          return { outcome: 'written', old: [] };
        };
      },
    },
    message: /Nothing explains the answer|missing|is locked|with locks/,
  },
  {
    name: 'a feed that loses one record of a hundred',
    deployment: 'machine',
    fault: { feed: (records) => records.filter(({ position }) => Number(position) % 100 !== 0) },
    message: /the counters of|nothing refers to the blob|a scrub finds/,
  },
  {
    name: 'a stream that loses one record of a hundred',
    deployment: 'cloud',
    fault: { feed: (records) => records.filter(({ position }) => Number(position) % 100 !== 0) },
    message: /the counters of|nothing refers to the blob|a scrub finds/,
  },
  {
    name: 'a release that does not look for other references',
    deployment: 'cloud',
    fault: {
      table: (table) => {
        const getTogether = table.getTogether.bind(table);
        table.getTogether = async (keys) => {
          const items = await getTogether(keys);
          return items.map((item, at) => (keys[at]!.sk === 'refs' ? undefined : item));
        };
      },
    },
    message: /data loss|Nothing explains the answer|answered 500|missing-blob/,
  },
  {
    name: 'commits that do not check the rights again',
    deployment: 'machine',
    fault: {
      table: (table) => {
        const write = table.write.bind(table);
        const isOfBucket = ({ key: { pk } }: Condition): boolean => pk.startsWith('bucket/');
        table.write = (changes, conditions = []) =>
          write(changes, changes.some(isVersion) ? conditions.filter((one) => !isOfBucket(one)) : conditions);
      },
    },
    message: /without a right to/,
  },
  {
    name: 'a policy that is granted to the wrong project',
    deployment: 'cloud',
    fault: {
      services: ({ buckets }) => {
        const read = buckets.documents.of.bind(buckets.documents);
        buckets.documents.of = async (bucket, kind) => {
          const document = await read(bucket, kind);
          if (kind !== 'policy' || document === undefined) return document;
          return { ...document, principals: [['guest', 'stranger']] };
        };
        return {};
      },
    },
    message: /stranger|is answered 403 to .*, with all rights/,
  },
  {
    name: 'quotas that nobody looks at',
    deployment: 'machine',
    fault: {
      services: () => ({
        quotas: { reserve: () => Promise.resolve({ add: () => Promise.resolve(), release: () => undefined }) },
      }),
    },
    message: /exceeds the quota/,
  },
  {
    name: 'a lifecycle pass whose clock is a day ahead',
    deployment: 'cloud',
    fault: {
      lifecycle: (deps) => ({ ...deps, clock: { ...deps.clock, now: () => deps.clock.now() + day } }),
    },
    message: /was removed at .* before/,
  },
  {
    name: 'governance that yields to everybody',
    deployment: 'machine',
    fault: {
      services: ({ objects }) => {
        const remove = objects.remove.bind(objects);
        objects.remove = (removal) =>
          remove(removal.by === 'request' ? { ...removal, override: 'governance' } : removal);
        return {};
      },
    },
    message: /is locked: .*"GOVERNANCE".*but by DeleteObjects? of .* it is removed/,
  },
  {
    name: 'a lifecycle pass that takes no notice of locks',
    deployment: 'cloud',
    fault: {
      lifecycle: (deps) => {
        const remove = deps.objects.remove.bind(deps.objects);
        deps.objects.remove = (removal) =>
          remove('version' in removal ? { ...removal, version: unlocked(removal.version) } : removal);
        return deps;
      },
    },
    message: /is locked: .*but by .* it is removed/,
  },
  {
    name: 'a feed that loses one event of twenty',
    deployment: 'machine',
    fault: {
      feed: (records) =>
        records.filter(({ key, position }) => eventKeyParts.event(key) === undefined || Number(position) % 20 !== 0),
    },
    message: /was committed, and never told/,
  },
  {
    name: 'queues of events that are read backwards',
    deployment: 'machine',
    fault: {
      table: (table) => {
        const query = table.query.bind(table);
        table.query = async (pk, options) => {
          const page = await query(pk, options);
          return pk.startsWith(eventPartition.queue('')) ? { ...page, items: page.items.toReversed() } : page;
        };
      },
    },
    message: /was told before/,
  },
  {
    name: 'events of changes that fail',
    deployment: 'machine',
    fault: {
      table: (table) => {
        const write = table.write.bind(table);
        let writes = 0;
        table.write = async (changes, conditions) => {
          const events = changes.filter(isEvent);
          if (events.length === 0 || (writes += 1) % 5 !== 0) return write(changes, conditions);
          await write(events);
          throw new TableBusy();
        };
      },
    },
    message: /was told, and never made/,
  },
];
