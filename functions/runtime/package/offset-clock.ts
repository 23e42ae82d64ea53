import { SystemClock } from '../../../shared/adapters/system/system-clock.ts';

/** The machine's clock, ahead by so many milliseconds. */
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
