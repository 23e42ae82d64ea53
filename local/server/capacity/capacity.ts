import type { Telemetry } from '../../../shared/ports/telemetry.ts';
import type { Capacity } from '../../../shared/protocol/bodies/capacity/admission.ts';
import { BodiesInFlight, type Scarce } from '../../../shared/protocol/bodies/capacity/bodies-in-flight.ts';
import { DownloadPace } from '../../../shared/protocol/bodies/capacity/download-pace.ts';
import { defaultLimits, type Limits } from '../../../shared/protocol/limits.ts';
import { ConnectionLimit } from '../../../shared/node-http/connections/connection-limit.ts';
import { OperatorError } from '../../../shared/errors/operator-error.ts';
import type { StartOptions } from '../../../shared/command-line/start-options.ts';
import { hasAddressSpace, thisMachine, type Machine } from './machine.ts';
import { Refusals } from './refusals.ts';

type ConcurrencyLimits = Pick<Limits, 'concurrentConnections' | 'concurrentUploads' | 'concurrentDownloads'>;

const MiB = 1024 * 1024;

/** The maximum memory of a body in either direction, in bytes: two buffers of the store, and those of the connection. */
const memoryOfBody = MiB;
/** The share of the memory for the bodies of each direction. */
const shareOfMemory = 0.25;
/**
 * The heap that the elements of a large document take: 6 MiB for 10,000 parts of an upload, 8 MiB for the largest number that a document
 * may have.
 */
const heapOfDocument = 8 * MiB;
/** The heap that a listing takes, with the page that it has read. */
const heapOfListing = MiB;
/** The share of the heap for documents. */
const shareOfHeap = 0.25;
/** The share of the heap for listings: one after the other, those that fit into it take less than a second. */
const shareOfHeapForListings = 1 / 16;
/** Fewer than these a service cannot do with, however small its heap. */
const leastListings = 64;
/** Handles that are open for a moment: directories that are synced, probes of the disk, threads. */
const spareHandles = 20;
/** The minimum of free handles. With fewer, a service would refuse most of its requests. */
const leastHandles = 16;

/** The limits of one process of the service on what is open at a time. */
export interface Concurrency {
  readonly connections: number;
  readonly uploads: number;
  readonly documents: number;
  readonly downloads: number;
  readonly listings: number;
}

/**
 * Returns the limits of each process of a service: the configured ones, divided among the processes, or else those that memory and handles
 * allow. A connection takes a handle, and a body another one for its file. Each process has a separate heap.
 * @throws OperatorError if there are too few handles
 */
export function concurrencyOf(limits: ConcurrencyLimits, processes: number, machine: Machine): Concurrency {
  const handles = machine.freeHandles - spareHandles;
  if (handles < leastHandles) {
    const missing = leastHandles - handles;
    throw new OperatorError(`too few file handles are left: raise the limit of open files (ulimit -n) by ${missing}`);
  }
  const byMemory = (machine.memory * shareOfMemory) / memoryOfBody / processes;
  const bodies = Math.max(1, Math.floor(Math.min(byMemory, handles / 4)));
  const chosen = (limit: number, otherwise: number): number =>
    limit === Infinity ? otherwise : Math.ceil(limit / processes);
  return {
    connections: chosen(limits.concurrentConnections, Math.floor(handles / 2)),
    uploads: chosen(limits.concurrentUploads, bodies),
    documents: Math.max(1, Math.floor((machine.heap * shareOfHeap) / heapOfDocument)),
    downloads: chosen(limits.concurrentDownloads, bodies),
    listings: Math.max(leastListings, Math.floor((machine.heap * shareOfHeapForListings) / heapOfListing)),
  };
}

/** Counts what one process of the service has in progress, and enforces its limits. */
export class ProcessCapacity implements Capacity {
  readonly uploads: BodiesInFlight;
  readonly documents: BodiesInFlight;
  readonly downloads: BodiesInFlight;
  readonly listings: BodiesInFlight;
  readonly strangersListings: BodiesInFlight;
  readonly pace: DownloadPace;
  readonly connections: ConnectionLimit;
  readonly refusals: Refusals;

  /**
   * Returns the capacity of this process, which is one of several of a service.
   * @throws OperatorError if there are too few handles, or too few addresses for checksums
   */
  static ofProcess(
    { limit, workers }: Pick<StartOptions, 'limit' | 'workers'>,
    telemetry: Pick<Telemetry, 'problem'>,
  ): ProcessCapacity {
    if (!hasAddressSpace()) {
      throw new OperatorError(
        'too little address space: lift its limit (ulimit -v), or set NODE_OPTIONS=--disable-wasm-trap-handler',
      );
    }
    const limits = { ...defaultLimits, ...limit };
    return new ProcessCapacity(concurrencyOf(limits, workers, thisMachine()), limits, telemetry);
  }

  constructor(
    { connections, uploads, documents, downloads, listings }: Concurrency,
    limits: Pick<Limits, 'readerGrace' | 'readerRate'>,
    telemetry: Pick<Telemetry, 'problem'>,
  ) {
    this.refusals = new Refusals(telemetry);
    const refused = (of: Scarce): void => this.refusals.count(of);
    this.uploads = new BodiesInFlight('uploads', uploads, refused);
    this.documents = new BodiesInFlight('documents', documents, refused);
    this.downloads = new BodiesInFlight('downloads', downloads, refused);
    this.listings = new BodiesInFlight('listings', listings, refused);
    this.strangersListings = new BodiesInFlight('listings', this.listings.mostOfParty, refused);
    this.pace = new DownloadPace(limits, () => performance.now());
    this.connections = new ConnectionLimit(connections, () => refused('connections'));
  }
}
