import { TargetFailed, type BackupTarget, type TargetFile } from '../../../shared/ports/backup-target.ts';

/** A target in memory, whose files tests may change. */
export class MemoryTarget implements BackupTarget {
  readonly name = 'memory';
  readonly files = new Map<string, { bytes: Uint8Array; writtenAt: number }>();
  /** The time of its clock. */
  now = 1_000_000;
  /** The number of files that it takes before it is full. */
  room = Infinity;
  /** What it waits for before it takes the bytes of a file. */
  busy: (name: string) => Promise<unknown> = () => Promise.resolve();

  async put(name: string, bytes: Uint8Array, { ifAbsent }: { readonly ifAbsent?: true } = {}): Promise<boolean> {
    if (ifAbsent && this.files.has(name)) return false;
    if (this.room <= 0) throw new TargetFailed('cannot write to memory: it is full');
    this.room -= 1;
    await this.busy(name);
    this.files.set(name, { bytes: Uint8Array.from(bytes), writtenAt: this.now });
    return true;
  }

  async get(name: string): Promise<Uint8Array | undefined> {
    return this.files.get(name)?.bytes;
  }

  async *list(prefix: string): AsyncIterable<TargetFile> {
    for (const [name, { bytes, writtenAt }] of [...this.files]) {
      if (name.startsWith(prefix)) yield { name, size: bytes.length, writtenAt };
    }
  }

  async remove(names: readonly string[]): Promise<void> {
    for (const name of names) this.files.delete(name);
  }

  /** Returns the names of files that begin with a prefix. */
  names(prefix: string): readonly string[] {
    return [...this.files.keys()].filter((name) => name.startsWith(prefix)).sort();
  }

  /** Flips a bit of a file. */
  damage(name: string, at = this.files.get(name)!.bytes.length >> 1): void {
    this.files.get(name)!.bytes[at]! ^= 1;
  }
}
