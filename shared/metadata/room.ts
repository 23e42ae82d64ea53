/** The room that is left in a bucket for what is no object: uploads and public links. */
export interface Room {
  /** The most of its kind that there may be. */
  readonly most: number;
  /** Reserves bytes until they are committed, or not. @throws S3Error QuotaExceeded */
  reserve(bytes: number): Promise<{ release(): void }>;
}

/** For what an operator makes. */
export const unlimited: Room = { most: Infinity, reserve: () => Promise.resolve({ release: () => undefined }) };
