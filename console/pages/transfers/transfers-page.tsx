import { UnfinishedUploads } from './unfinished-uploads.tsx';
import { visibleName } from '../../format/names.ts';
import { number, size, t } from '../../messages/messages.ts';
import type { Job, JobKind } from '../../transfers/job.ts';
import { clearEnded, jobs } from '../../transfers/queue.ts';
import { Button } from '../../ui/button.tsx';
import { CopyButton } from '../../ui/command-line.tsx';
import { Icon, type IconName } from '../../ui/icons.tsx';
import { Empty, explain } from '../../ui/notices.tsx';

/** The long tasks: uploads, archives, copies, moves, deletions. */
export function TransfersPage() {
  const texts = t.value.transfers;
  const all = jobs.value;
  return (
    <div class="page">
      <div class="page-head">
        <h1>{texts.title}</h1>
        {all.some((job) => !job.isActive.value) && <Button onClick={clearEnded}>{texts.clear}</Button>}
      </div>
      <UnfinishedUploads />
      {all.length === 0 ? (
        <Empty title={texts.none}>
          <p>{texts.noneMeaning}</p>
        </Empty>
      ) : (
        all.map((job) => <JobRow key={job.id} job={job} />)
      )}
    </div>
  );
}

const icons: Readonly<Record<JobKind, IconName>> = {
  upload: 'upload',
  download: 'download',
  archive: 'archive',
  copy: 'copy',
  move: 'folder',
  rename: 'rename',
  delete: 'trash',
  undelete: 'history',
  access: 'globe',
  links: 'link',
  revoke: 'lock',
};

/** The number of failures shown: those of a whole batch of deletions. */
const maxShown = 1_000;

function JobRow({ job }: { readonly job: Job }) {
  const texts = t.value.transfers;
  const { spec, state, failures } = job;
  const isBytes = spec.unit === 'bytes';
  const isLinks = spec.kind === 'links' || spec.kind === 'revoke';
  const shown = (amount: number): string => (isBytes ? size(amount) : number(amount));
  const total = job.total.value;
  const isOpen = job.isListing.value || (isBytes && total === 0);
  const progress = isOpen ? shown(job.done.value) : texts.progress(shown(job.done.value), shown(total));
  const part = total === 0 ? (job.isActive.value ? 0 : 1) : job.done.value / total;
  const failed = failures.value.length;
  return (
    <section class="job" aria-label={`${texts.kinds[spec.kind]} ${visibleName(spec.title)}`}>
      <Icon name={icons[spec.kind]} />
      <div>
        <div class="ellipsis">
          <strong>{texts.kinds[spec.kind]}</strong> {visibleName(spec.title)}
        </div>
        <div class="small muted" role="status">
          {[spec.bucket, progress, texts.states[state.value], failed > 0 ? texts.failed(failed, number(failed)) : '']
            .filter((text) => text !== '')
            .join(' · ')}
        </div>
      </div>
      <div class="row">
        <CopyButton
          text={() => spec.commands().join('\n')}
          name={`${isLinks ? 'curl' : t.value.common.command}: ${texts.kinds[spec.kind]} ${visibleName(spec.title)}`}
        />
        {(state.value === 'running' || state.value === 'offline') && spec.kind !== 'archive' && (
          <Button icon="pause" tip={texts.pause} onClick={() => job.pause()} />
        )}
        {(state.value === 'paused' || state.value === 'offline') && (
          <Button icon="play" tip={texts.resume} onClick={() => job.resume()} />
        )}
        {job.isActive.value && <Button icon="stop" tip={texts.stop} onClick={() => job.stop()} />}
        {state.value === 'failed' && (
          <Button
            icon="refresh"
            tip={failed > 0 ? texts.retryFailed(failed) : t.value.common.retry}
            onClick={() => job.retry()}
          />
        )}
        {job.undo.value !== undefined && <Button onClick={job.undo.value}>{t.value.common.undo}</Button>}
      </div>
      <div
        class={failed > 0 ? 'meter warn' : 'meter'}
        role="progressbar"
        aria-label={`${texts.kinds[spec.kind]} ${visibleName(spec.title)}`}
        aria-valuenow={Math.round(part * 100)}
      >
        <div style={{ width: `${part * 100}%` }} />
      </div>
      {job.error.value !== undefined && <p class="failures bad">{explain(job.error.value).words}</p>}
      {failed > 0 && (
        <ul class="failures" tabIndex={0} aria-label={texts.failed(failed, number(failed))}>
          {failures.value.slice(0, maxShown).map(({ name, error }, index) => (
            <li key={index}>
              <strong>{visibleName(name)}</strong>: {explain(error).words}{' '}
              <span class="muted">{explain(error).detail}</span>
            </li>
          ))}
          {failed > maxShown && <li>{t.value.common.andMore(number(failed - maxShown))}</li>}
        </ul>
      )}
    </section>
  );
}
