import type { ScrubPass, ScrubState } from '../server/schedules/scrub-state.ts';
import { count } from '../../shared/command-line/report.ts';
import { sizeText } from '../../shared/command-line/sizes.ts';
import { printable } from '../../shared/telemetry/log.ts';

/** Returns what `stillage scrub --status` prints: a line for each pass of the background scrub, and one for each damaged blob. */
export function scrubStatusText({ current, finished }: ScrubState): string {
  const lines = [
    ...(current === undefined
      ? []
      : [
          `under way since ${time(current.startedAt)}: ${Math.floor((100 * current.parts.read) / current.parts.of)}%, ${summary(current)}`,
          ...damage(current),
        ]),
    ...(finished === undefined
      ? []
      : [`finished ${time(finished.finishedAt!)}: ${summary(finished)}`, ...damage(finished)]),
  ];
  return `${lines.length > 0 ? lines.join('\n') : 'the background scrub has not begun'}\n`;
}

function summary({ blobs, bytes, checksummed, damaged }: ScrubPass): string {
  const added = checksummed > 0 ? `, ${checksummed} of earlier versions got checksums` : '';
  return `${count(blobs, 'blob')} (${sizeText(bytes)}) read, ${damaged} damaged${added}`;
}

function damage({ examples, damaged }: ScrubPass): readonly string[] {
  const lines = examples.map(({ bucketId, key, damage }) => {
    const owner = key === undefined ? '' : `, written for bucket ${bucketId}, key ${key}`;
    return `  damaged  ${printable(`${damage}${owner}`)}`;
  });
  return damaged > examples.length ? [...lines, `  and ${damaged - examples.length} others`] : lines;
}

function time(milliseconds: number): string {
  return new Date(milliseconds).toISOString();
}
