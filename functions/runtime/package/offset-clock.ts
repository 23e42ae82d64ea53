import { SystemClock } from '../../../shared/adapters/system/system-clock.ts';

/** The clock of the machine, with an offset in milliseconds. */
export class OffsetClock extends SystemClock {
  offset: number;

  constructor(offset: number) {
    super();
    this.offset = offset;
  }

  override now(): number {
    return super.now() + this.offset;
  }
}
