import { canonical } from './fingerprint.ts';

/** A version in the terms of the specification. */
export interface SpecVersion {
  /** The name of the writer. */
  readonly label: string;
  readonly named: boolean;
  readonly marker: boolean;
  readonly content: string | undefined;
  readonly tag: string | undefined;
}

/** The whole state of one key: its bucket, and its versions, newest first. Immutable. */
export interface SpecState {
  /** Undefined: there is no such bucket. */
  readonly versioning: 'off' | 'on' | 'suspended' | undefined;
  readonly versions: readonly SpecVersion[];
  /** The scenario's upload: open, aborted, or the version id of its completion. */
  readonly upload?: 'open' | 'aborted' | { readonly completed: string };
}

/** The effect of a request on one key, and what it read there. */
export interface KeyEvent {
  /** The name of the actor. */
  readonly actor: string;
  /** The steps of the run at which it began and at which it was answered (infinite: never). */
  readonly began: number;
  readonly ended: number;
  /** Whether it may not have happened at all, because its answer leaves that open. */
  readonly open: boolean;
  /** The answer as text; undefined if any answer is right. */
  readonly answer: string | undefined;
  /** Returns the state after it and its answer, if it is executed atomically. */
  readonly does: (state: SpecState) => { readonly state: SpecState; readonly answer: unknown };
}

/**
 * Whether there is an order of the requests, each at one moment between its beginning and its answer, that explains their answers and the
 * final state (Herlihy and Wing's linearizability, by search).
 */
export function isLinearizable(events: readonly KeyEvent[], begin: SpecState, end: SpecState): boolean {
  const wanted = canonical(end);
  const failed = new Set<string>();
  const search = (state: SpecState, left: readonly KeyEvent[]): boolean => {
    if (left.every(({ open }) => open) && canonical(state) === wanted) return true;
    const place = `${left.map(({ actor }) => actor).join()} ${canonical(state)}`;
    if (failed.has(place)) return false;
    for (const event of left) {
      if (left.some((other) => other !== event && other.ended < event.began)) continue;
      const rest = left.filter((other) => other !== event);
      const { state: behind, answer } = event.does(state);
      const fits = event.answer === undefined || canonical(answer) === event.answer;
      if (fits && search(behind, rest)) return true;
      if (event.open && search(state, rest)) return true;
    }
    failed.add(place);
    return false;
  };
  return search(begin, events);
}

const live = (state: SpecState): SpecVersion | undefined => {
  const [current] = state.versions;
  return current?.marker ? undefined : current;
};

/** Makes a version current; a null version replaces the former null version. */
function above(state: SpecState, version: SpecVersion): SpecState {
  const older = version.named ? state.versions : state.versions.filter(({ named }) => named);
  return { ...state, versions: [version, ...older] };
}

const noBucket = 'NoSuchBucket';
const shownId = ({ label, named }: Pick<SpecVersion, 'label' | 'named'>): string => (named ? label : 'null');

type Does = KeyEvent['does'];

/** The effect of each request when it runs alone. */
export const specification = {
  put:
    (label: string, content: string | undefined, condition?: 'absent' | { readonly content: string }): Does =>
    (state) => {
      if (state.versioning === undefined) return { state, answer: noBucket };
      const current = live(state);
      if (condition === 'absent' && current) return { state, answer: 'PreconditionFailed' };
      if (typeof condition === 'object' && current === undefined) return { state, answer: 'NoSuchKey' };
      if (typeof condition === 'object' && current?.content !== condition.content) {
        return { state, answer: 'PreconditionFailed' };
      }
      const version = { label, named: state.versioning === 'on', marker: false, content, tag: undefined };
      return { state: above(state, version), answer: ['put', shownId(version)] };
    },

  delete:
    (label: string): Does =>
    (state) => {
      if (state.versioning === undefined) return { state, answer: noBucket };
      if (state.versioning === 'off') return { state: { ...state, versions: [] }, answer: ['deleted', undefined] };
      const marker = { label, named: state.versioning === 'on', marker: true, content: undefined, tag: undefined };
      return { state: above(state, marker), answer: ['deleted', shownId(marker)] };
    },

  /** Removes the name without a trace if possible; otherwise a delete marker becomes current. */
  leave:
    (label: string, content: string | undefined): Does =>
    (state) => {
      if (state.versioning === undefined) return { state, answer: noBucket };
      const current = live(state);
      if (current === undefined) return { state, answer: 'NoSuchKey' };
      const answer = ['renamed', content ?? current.content];
      if (content !== undefined && content !== current.content) return { state, answer: 'another content' };
      const vanishes = state.versioning !== 'on' && !current.named && state.versions.length === 1;
      if (vanishes) return { state: { ...state, versions: [] }, answer };
      const marker = { label, named: state.versioning === 'on', marker: true, content: undefined, tag: undefined };
      return { state: above(state, marker), answer };
    },

  deleteVersion:
    (version: string | undefined): Does =>
    (state) => {
      if (state.versioning === undefined) return { state, answer: noBucket };
      const gone = version === undefined ? undefined : findVersion(state, version);
      if (gone === undefined) return { state, answer: ['gone', undefined] };
      const versions = state.versions.filter((one) => one !== gone);
      return { state: { ...state, versions }, answer: ['gone', gone.marker ? 'marker' : gone.content] };
    },

  get:
    (version?: string | { readonly unknown: true }): Does =>
    (state) => {
      if (state.versioning === undefined) return { state, answer: noBucket };
      if (typeof version === 'object') return { state, answer: 'NoSuchKey' };
      const found = version === undefined ? live(state) : findVersion(state, version);
      if (found === undefined) return { state, answer: 'NoSuchKey' };
      return { state, answer: found.marker ? 'MethodNotAllowed' : ['got', found.content, found.tag] };
    },

  /** The read of a copy's source. The write of its target is an event of the other key. */
  seen: (): Does => (state) => {
    if (state.versioning === undefined) return { state, answer: noBucket };
    const current = live(state);
    return { state, answer: current ? ['seen', current.content] : 'NoSuchKey' };
  },

  listed: (): Does => (state) => {
    if (state.versioning === undefined) return { state, answer: noBucket };
    return { state, answer: ['listed', live(state)?.content] };
  },

  listedVersions: (): Does => (state) => {
    if (state.versioning === undefined) return { state, answer: noBucket };
    return { state, answer: ['versions', state.versions.map((one) => [shownId(one), one.content])] };
  },

  tag:
    (tag: string): Does =>
    (state) => {
      if (state.versioning === undefined) return { state, answer: noBucket };
      const current = live(state);
      if (current === undefined) return { state, answer: 'NoSuchKey' };
      return { state: { ...state, versions: [{ ...current, tag }, ...state.versions.slice(1)] }, answer: ['tagged'] };
    },

  complete:
    (label: string, content: string | undefined): Does =>
    (state) => {
      if (state.versioning === undefined) return { state, answer: noBucket };
      if (typeof state.upload === 'object') return { state, answer: ['completed', state.upload.completed] };
      if (state.upload !== 'open') return { state, answer: 'NoSuchUpload' };
      const version = { label, named: state.versioning === 'on', marker: false, content, tag: undefined };
      const completed = shownId(version);
      return { state: { ...above(state, version), upload: { completed } }, answer: ['completed', completed] };
    },

  abort: (): Does => (state) => {
    if (state.versioning === undefined) return { state, answer: noBucket };
    if (state.upload !== 'open') return { state, answer: 'NoSuchUpload' };
    return { state: { ...state, upload: 'aborted' }, answer: ['aborted'] };
  },

  part: (): Does => (state) => {
    if (state.versioning === undefined) return { state, answer: noBucket };
    return { state, answer: state.upload === 'open' ? ['part'] : 'NoSuchUpload' };
  },

  setVersioning:
    (versioning: 'on' | 'suspended'): Does =>
    (state) =>
      state.versioning === undefined
        ? { state, answer: noBucket }
        : { state: { ...state, versioning }, answer: ['versioning'] },

  deleteBucket: (): Does => (state) => {
    if (state.versioning === undefined) return { state, answer: noBucket };
    if (state.versions.length > 0) return { state, answer: 'BucketNotEmpty' };
    return { state: { versioning: undefined, versions: [] }, answer: ['removed'] };
  },

  createBucket: (): Does => (state) =>
    state.versioning === undefined
      ? { state: { ...state, versioning: 'off', versions: [] }, answer: ['created'] }
      : { state, answer: 'BucketAlreadyExists' },
} as const;

function findVersion(state: SpecState, version: string): SpecVersion | undefined {
  return state.versions.find((one) => (version === 'null' ? !one.named : one.named && one.label === version));
}
