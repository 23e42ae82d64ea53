import type { Operation } from './checker.ts';

/** A version of an object, or a delete marker. */
interface Version {
  /** Undefined: it has an id that no answer has contained yet. */
  readonly id: string | undefined;
  /** Stands for its bytes, which a read compares. Undefined: a delete marker. */
  readonly etag: string | undefined;
  /** The value of its only tag; '' if it has none. */
  readonly tag: string;
  readonly acl: 'private' | 'public-read';
}

/** A small group of keys of one bucket. Never changed, only replaced. */
export interface Group {
  readonly versioning: 'off' | 'on' | 'suspended';
  /** The versions of each key, newest first. */
  readonly keys: Readonly<Record<string, readonly Version[]>>;
  /** The versions that copies in progress have read. */
  readonly read: Readonly<Record<string, Version>>;
}

/** A request to keys of a group. */
export type Request =
  | {
      readonly do: 'put';
      readonly via: 'PUT' | 'Complete';
      readonly key: string;
      readonly etag: string;
      readonly tag?: string;
      readonly acl?: Version['acl'];
      readonly condition?: 'absent' | { readonly etag: string };
    }
  | { readonly do: 'get'; readonly via: 'GET' | 'HEAD' | 'range'; readonly key: string; readonly version?: string }
  | { readonly do: 'delete'; readonly key: string; readonly version?: string }
  | { readonly do: 'copy'; readonly from: string; readonly to: string }
  | { readonly do: 'rename'; readonly from: string; readonly to: string }
  | { readonly do: 'set tag'; readonly key: string; readonly tag: string }
  | { readonly do: 'get tag'; readonly key: string }
  | { readonly do: 'set ACL'; readonly key: string; readonly acl: Version['acl'] }
  | { readonly do: 'get ACL'; readonly key: string }
  | { readonly do: 'list' }
  | { readonly do: 'list versions' }
  | { readonly do: 'set versioning'; readonly to: 'on' | 'suspended' };

/** The part of a response that the order of operations must explain. */
export interface Answer {
  readonly status: number;
  /** x-amz-version-id. */
  readonly id?: string | undefined;
  /** The ETag of the bytes that were read or copied. */
  readonly etag?: string | undefined;
  /** True if the response has x-amz-delete-marker. */
  readonly marker?: boolean;
  /** The tag or the ACL that was read. */
  readonly value?: string;
  /** The listed ETag of each key. */
  readonly listed?: Readonly<Record<string, string>>;
  /** The listed versions of each key, newest first: id, and ETag or nothing for a delete marker. */
  readonly versions?: Readonly<Record<string, readonly (readonly [id: string, etag: string | null])[]>>;
}

/** A request with its answer, as it is kept. */
export interface Recorded {
  readonly number: number;
  readonly request: Request;
  readonly began: number;
  /** Infinite: it got no answer, and may still happen. */
  ended: number;
  /** Undefined: there was none, or one that leaves open whether it happened. */
  readonly answer: Answer | undefined;
}

type Apply = Operation<Group>['apply'];

const reads: ReadonlySet<Request['do']> = new Set(['get', 'get tag', 'get ACL', 'list', 'list versions']);

/** Returns a group of keys that do not exist. */
export function emptyGroup(versioning: Group['versioning'], keys: readonly string[]): Group {
  return { versioning, keys: Object.fromEntries(keys.map((key) => [key, []])), read: {} };
}

/** Returns the operations of a recorded request. Some requests are several operations, which take effect at different moments. */
export function operationsOf(recorded: Recorded, keys: readonly string[]): readonly Operation<Group>[] {
  const { number, request, began, ended, answer } = recorded;
  const label = `#${number} [${began}–${ended}] ${JSON.stringify(request)} → ${JSON.stringify(answer) ?? 'no answer'}`;
  const optional = answer === undefined;
  const readOnly = reads.has(request.do) || (answer !== undefined && answer.status >= 300);
  const operation = (apply: Apply): Operation<Group> => ({ label, began, ended, optional, readOnly, apply });
  // The service refused a request because of one state, which it did not change.
  const changes = (key: string, done: (group: Group) => Group | undefined, refuses: Refuses = isAbsent): Apply => {
    if (answer === undefined) return (group) => some(refuses(group, key) === undefined ? done(group) : undefined);
    if (answer.status < 300) return (group) => some(refuses(group, key) === undefined ? done(group) : undefined);
    return (group) => (answer.status === 409 || refuses(group, key) === answer.status ? [group] : []);
  };
  const never: Refuses = () => undefined;

  switch (request.do) {
    case 'put': {
      const { key, etag, tag = '', acl = 'private', condition } = request;
      const version = { etag, tag, acl };
      return [operation(changes(key, (group) => put(group, key, version, answer?.id), unless(condition)))];
    }
    case 'get': {
      const { key, version } = request;
      if (answer === undefined) return [];
      return [operation((group) => some(got(group, key, version, answer)))];
    }
    case 'delete': {
      const { key, version } = request;
      if (version === undefined) return [operation(changes(key, (group) => mark(group, key, answer?.id), never))];
      return [
        operation((group) => {
          const gone = group.keys[key]!.find(({ id }) => id === version);
          const fits = answer === undefined || (answer.marker ?? false) === (gone !== undefined && isMarker(gone));
          if (!fits) return [];
          if (gone === undefined) return [group];
          return [withVersions(group, key, (versions) => versions.filter((one) => one !== gone))];
        }),
      ];
    }
    case 'copy': {
      const { from, to } = request;
      const name = String(number);
      const seen: Apply = (group) => {
        const source = live(group, from);
        if (answer !== undefined && answer.status >= 300) return source === undefined ? [group] : [];
        if (source === undefined || (answer && answer.etag !== source.etag)) return [];
        return [{ ...group, read: { ...group.read, [name]: source } }];
      };
      if (answer !== undefined && answer.status >= 300) return [operation(seen)];
      const made: Apply = (group) => {
        const { [name]: source, ...read } = group.read;
        return source === undefined ? [] : some(put({ ...group, read }, to, { ...source, acl: 'private' }, answer?.id));
      };
      // A copy that did not happen has read its source for nothing.
      const forget = (group: Group): Group => {
        const { [name]: unused, ...read } = group.read;
        return unused === undefined ? group : { ...group, read };
      };
      return [operation(seen), { ...operation(made), forget }];
    }
    case 'rename': {
      const { from, to } = request;
      return [operation(changes(from, (group) => rename(group, from, to)))];
    }
    case 'set tag': {
      const { key, tag } = request;
      return [operation(changes(key, (group) => revise(group, key, { tag }, answer?.id)))];
    }
    case 'set ACL': {
      const { key, acl } = request;
      return [operation(changes(key, (group) => revise(group, key, { acl }, answer?.id)))];
    }
    case 'get tag':
    case 'get ACL': {
      if (answer === undefined) return [];
      const name = request.do === 'get tag' ? 'tag' : 'acl';
      return [
        operation((group) => {
          const current = live(group, request.key);
          if (answer.status >= 300) return current === undefined ? [group] : [];
          return current?.[name] === answer.value ? some(identified(group, request.key, 0, answer.id)) : [];
        }),
      ];
    }
    // Each key of a listing is as it was at one moment during the request; not all of them at the same moment.
    case 'list':
      if (answer === undefined) return [];
      return keys.map((key) => operation((group) => (live(group, key)?.etag === answer.listed![key] ? [group] : [])));
    case 'list versions':
      if (answer === undefined) return [];
      return keys.map((key) => operation((group) => some(listed(group, key, answer.versions![key] ?? []))));
    case 'set versioning': {
      const { to } = request;
      return [operation((group) => [group.versioning === to ? group : { ...group, versioning: to }])];
    }
  }
}

function some(group: Group | undefined): readonly Group[] {
  return group === undefined ? [] : [group];
}

/** Returns the status with which a request is refused in this state, if it is. */
type Refuses = (group: Group, key: string) => number | undefined;

const isAbsent: Refuses = (group, key) => (live(group, key) === undefined ? 404 : undefined);

function unless(condition: (Request & { readonly do: 'put' })['condition']): Refuses {
  return (group, key) => {
    const current = live(group, key);
    if (condition === undefined) return undefined;
    if (condition === 'absent') return current ? 412 : undefined;
    if (current === undefined) return 404;
    return current.etag === condition.etag ? undefined : 412;
  };
}

function isMarker({ etag }: Version): boolean {
  return etag === undefined;
}

/** The current version, unless it is a delete marker. */
function live({ keys }: Group, key: string): Version | undefined {
  const [current] = keys[key]!;
  return current === undefined || isMarker(current) ? undefined : current;
}

function withVersions(group: Group, key: string, change: (versions: readonly Version[]) => readonly Version[]): Group {
  return { ...group, keys: { ...group.keys, [key]: change(group.keys[key]!) } };
}

/**
 * Makes a version current; one without its own id replaces the former null version.
 * @param id as it was answered
 * @returns undefined if the answer shows another id than this state leads to
 */
function put(group: Group, key: string, version: Omit<Version, 'id'>, id: string | undefined): Group | undefined {
  const isNamed = group.versioning === 'on';
  if (id !== undefined && (isNamed ? !isNew(group, id) : id !== 'null')) return undefined;
  const { etag, tag, acl } = version;
  const current = { id: isNamed ? id : 'null', etag, tag, acl };
  return withVersions(group, key, (all) => [current, ...(isNamed ? all : all.filter((one) => one.id !== 'null'))]);
}

function isNew({ keys }: Group, id: string): boolean {
  return id !== 'null' && Object.values(keys).every((versions) => versions.every((version) => version.id !== id));
}

const marker = { etag: undefined, tag: '', acl: 'private' } as const;

function mark(group: Group, key: string, id: string | undefined): Group | undefined {
  if (group.versioning === 'off') return withVersions(group, key, () => []);
  return put(group, key, marker, id);
}

/** The source keeps its versions under a delete marker, unless it has none but the null version that is moved. */
function rename(group: Group, from: string, to: string): Group | undefined {
  const source = live(group, from)!;
  const vanishes = group.versioning !== 'on' && source.id === 'null' && group.keys[from]!.length === 1;
  const left = vanishes ? withVersions(group, from, () => []) : put(group, from, marker, undefined);
  return left && put(left, to, source, undefined);
}

function revise(group: Group, key: string, change: Partial<Version>, id: string | undefined): Group | undefined {
  const revised = withVersions(group, key, ([current, ...others]) => [{ ...current!, ...change }, ...others]);
  return identified(revised, key, 0, id);
}

/** @returns the state in which this was read: with the id of the version, if it was not known before */
function got(group: Group, key: string, version: string | undefined, answer: Answer): Group | undefined {
  const versions = group.keys[key]!;
  const at = version === undefined ? 0 : versions.findIndex(({ id }) => id === version);
  const found = versions[at];
  const hasMarker = found !== undefined && isMarker(found);
  if ((answer.marker ?? false) !== hasMarker) return undefined;
  if (answer.status >= 300) return found === undefined || hasMarker ? group : undefined;
  if (found === undefined || found.etag !== answer.etag) return undefined;
  return identified(group, key, at, answer.id);
}

function identified(group: Group, key: string, at: number, id: string | undefined): Group | undefined {
  const version = group.keys[key]![at]!;
  if (id === undefined || version.id === id) return group;
  if (version.id !== undefined || !isNew(group, id)) return undefined;
  return withVersions(group, key, (all) => all.with(at, { ...version, id }));
}

function listed(group: Group, key: string, shown: NonNullable<Answer['versions']>[string]): Group | undefined {
  const versions = group.keys[key]!;
  if (versions.length !== shown.length) return undefined;
  if (versions.some(({ etag }, at) => (etag ?? null) !== shown[at]![1])) return undefined;
  return shown.reduce<Group | undefined>((known, [id], at) => known && identified(known, key, at, id), group);
}
