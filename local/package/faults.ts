import { routes, type OperationName } from '../../shared/protocol/operation-table.ts';

/** A kind of injected fault. */
export type FaultKind =
  /** 503 SlowDown; the request is not carried out. */
  | 'slow-down'
  /** 500 InternalError; the request is not carried out. */
  | 'internal-error'
  /** The connection is closed without a response; the request is not carried out. */
  | 'cut'
  /** The request is carried out, and the connection is closed after half the response body, or before a response without one. */
  | 'half-body'
  /** The request is carried out after `delay` milliseconds. */
  | 'late';

/** A fault, and the requests that it applies to. */
export interface Fault {
  readonly kind: FaultKind;
  /** The number of requests that it applies to. Default: 1. */
  readonly times?: number;
  /** Only requests for this operation, by its name in S3: `PutObject`. */
  readonly operation?: OperationName;
  /** Only requests for this bucket. */
  readonly bucket?: string;
  /** Only requests for this key. */
  readonly key?: string;
  /** For `late`: milliseconds. */
  readonly delay?: number;
}

const kinds: readonly FaultKind[] = ['slow-down', 'internal-error', 'cut', 'half-body', 'late'];

const names: readonly string[] = ['kind', 'times', 'operation', 'bucket', 'key', 'delay'] satisfies (keyof Fault)[];
const operations: ReadonlySet<unknown> = new Set(routes.map(({ operation }) => operation));

/** Returns the fault if it is valid. @throws TypeError otherwise */
function checkFault(fault: Fault): Fault {
  const { kind, times = 1, operation, delay } = fault;
  const unknown = Object.keys(fault).find((name) => !names.includes(name));
  if (unknown !== undefined) throw new TypeError(`a fault has no ${unknown}: it has ${names.join(', ')}`);
  if (!kinds.includes(kind)) throw new TypeError(`kind must be one of ${kinds.join(', ')}, not ${String(kind)}`);
  if (times !== Infinity && (!Number.isInteger(times) || times < 1)) {
    throw new TypeError('times must be a positive integer, or Infinity');
  }
  if (operation !== undefined && !operations.has(operation)) {
    throw new TypeError(`operation must be the name of an operation, such as PutObject, not ${String(operation)}`);
  }
  const isDelay = typeof delay === 'number' && delay >= 0 && delay <= 600_000;
  if (kind === 'late' ? !isDelay : delay !== undefined) {
    throw new TypeError('a fault of the kind late needs delay, from 0 to 600,000 milliseconds; the others take none');
  }
  return fault;
}

/** The pending faults, oldest first. */
export class Faults {
  #waiting: { readonly fault: Fault; left: number }[] = [];

  /** Adds a fault. @throws TypeError */
  add(fault: Fault): void {
    this.#waiting.push({ fault: checkFault(fault), left: fault.times ?? 1 });
  }

  clear(): void {
    this.#waiting = [];
  }

  /** The number of requests that will still meet a fault; may be Infinity. */
  get left(): number {
    return this.#waiting.reduce((sum, { left }) => sum + left, 0);
  }

  /** Returns the fault for a request, if any, and counts it as used. */
  take(request: RequestDescription): Fault | undefined {
    const met = this.#waiting.find(({ fault }) => isFor(fault, request));
    if (met === undefined) return undefined;
    met.left -= 1;
    this.#waiting = this.#waiting.filter(({ left }) => left > 0);
    return met.fault;
  }
}

/** The parts of a request that faults are matched against. */
export interface RequestDescription {
  readonly operation: string;
  readonly bucket: string | undefined;
  readonly key: string | undefined;
}

function isFor({ operation, bucket, key }: Fault, request: RequestDescription): boolean {
  return (
    (operation === undefined || operation === request.operation) &&
    (bucket === undefined || bucket === request.bucket) &&
    (key === undefined || key === request.key)
  );
}
