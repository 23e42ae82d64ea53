import type { Command } from 'commander';
import type { ReleasedAmount, Sweep } from '../../../shared/storage/removal/release.ts';
import { scrubDeps } from '../../../functions/compose/scrub.ts';
import { freeingFirst } from '../../server/release/release-schedule.ts';
import { OutsideRelease } from '../../server/release/outside-release.ts';
import { localVerb, type Named } from '../command.ts';
import type { Deps } from '../data-deps.ts';
import { followingTheFeed } from '../following-the-feed.ts';
import { count, recordReport, type Report } from '../../../shared/command-line/report.ts';
import { sizeText } from '../../../shared/command-line/sizes.ts';

/** Returns `stillage release`. */
export function commandLine(named: Named): Command {
  return localVerb<{ readonly data: string }>({
    ...named,
    examples: ['release', 'release --json --data /var/lib/stillage'],
    act: (deps, _, { data }) => release(deps, data),
  });
}

async function release(opened: Deps, data: string): Promise<Report> {
  const deps = scrubDeps(opened);
  const release = new OutsideRelease(data, deps);
  const sweep = await followingTheFeed(opened, deps.uploads, (drain) => freeingFirst(drain, () => release.now()));
  return reportOf(sweep);
}

function reportOf({ freed, blobs, bytes, held }: Sweep): Report {
  const isHeld = held.things > 0;
  const data = { freed: { bytes, blobs, things: freed }, held };
  return recordReport(data, [
    ['freed', amountText({ bytes, blobs, things: freed })],
    ['held', isHeld ? `${amountText(held)}: running requests may still read it` : 'nothing'],
  ]);
}

function amountText({ bytes, blobs }: ReleasedAmount): string {
  return `${sizeText(bytes)} in ${count(blobs, 'blob')}`;
}
