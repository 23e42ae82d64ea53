/** What goes wrong with a request. */
export type FaultKind =
  /** 503 SlowDown, before anything is done. */
  | 'slow-down'
  /** 500 InternalError, before anything is done. */
  | 'internal-error'
  /** The connection ends without a response, before anything is done. */
  | 'cut'
  /** The request is carried out, and the connection ends after half the body of the response; without a body, before the response. */
  | 'half-body'
  /** The request is carried out, `delay` milliseconds late. */
  | 'late';

/** A fault, and the requests that it befalls. */
export interface Fault {
  readonly kind: FaultKind;
  /** How many requests it befalls, and then is over. Default: 1. */
  readonly times?: number;
  /** Only requests for this operation, by S3's name: `PutObject`. */
  readonly operation?: string;
  /** Only requests for this bucket. */
  readonly bucket?: string;
  /** Only requests for this key. */
  readonly key?: string;
  /** For `late`: milliseconds. */
  readonly delay?: number;
}

const kinds: readonly FaultKind[] = ['slow-down', 'internal-error', 'cut', 'half-body', 'late'];

/** @throws TypeError if no request could have this fault */
function checkFault(fault: Fault): Fault {
  const { kind, times = 1, delay } = fault;
  if (!kinds.includes(kind)) throw new TypeError(`a fault is one of ${kinds.join(', ')}, not ${String(kind)}`);
  if (times !== Infinity && (!Number.isInteger(times) || times < 1)) {
    throw new TypeError('a fault befalls a number of requests: a positive integer, or Infinity');
  }
  const isDelay = typeof delay === 'number' && delay >= 0 && delay <= 600_000;
  if (kind === 'late' ? !isDelay : delay !== undefined) {
    throw new TypeError('delay is for faults of the kind late, in milliseconds from 0 to 600,000');
  }
  return fault;
}

/** The faults that are still to happen, oldest first. */
export class Faults {
  #waiting: { readonly fault: Fault; left: number }[] = [];

  /** Adds a fault. @throws TypeError */
  add(fault: Fault): void {
    this.#waiting.push({ fault: checkFault(fault), left: fault.times ?? 1 });
  }

  clear(): void {
    this.#waiting = [];
  }

  /** How many requests still meet a fault; Infinity if there is no end. */
  get left(): number {
    return this.#waiting.reduce((sum, { left }) => sum + left, 0);
  }

  /** Returns the fault of a request, if it has one, and counts it. */
  take(request: RequestDescription): Fault | undefined {
    const met = this.#waiting.find(({ fault }) => isFor(fault, request));
    if (met === undefined) return undefined;
    met.left -= 1;
    this.#waiting = this.#waiting.filter(({ left }) => left > 0);
    return met.fault;
  }
}

/** What a fault can look at. */
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
