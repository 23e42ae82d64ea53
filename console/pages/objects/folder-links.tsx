import { useState } from 'preact/hooks';
import { namesOf } from './names.ts';
import { visibleName } from '../../format/names.ts';
import { createLinkCommand, linkKey, revokeLinkCommand } from '../../format/object-commands.ts';
import { number, t } from '../../messages/messages.ts';
import type { S3Client } from '../../s3/client.ts';
import type { Entry, ObjectEntry } from '../../s3/listing.ts';
import { config, session } from '../../session/session.ts';
import type { Job } from '../../transfers/job.ts';
import { startLinks, startRevocation, type MadeLink, type MadeLinks } from '../../transfers/links.ts';
import { Button } from '../../ui/button.tsx';
import { CopyButton } from '../../ui/command-line.tsx';
import { ask, DialogForm } from '../../ui/dialog.tsx';
import { notify } from '../../ui/notices.tsx';
import { saveText } from '../../ui/save-text.ts';
import { Select } from '../../ui/select.tsx';

type Answer = { readonly act: 'make'; readonly hours: number } | { readonly act: 'revoke' };

/** Asks for a lifetime, creates a public link for each chosen object, and shows the links; or revokes existing ones. */
export async function askFolderLinks(bucket: string, entries: readonly Entry[]): Promise<void> {
  const client: S3Client = session.peek()!.client;
  const title = namesOf(entries);
  const answer = await ask<Answer>((done) => <LinksDialog bucket={bucket} entries={entries} onDone={done} />);
  if (answer === undefined) return;
  if (answer.act === 'revoke') {
    startRevocation(client, bucket, entries, title);
    return;
  }
  const { job, links } = startLinks(client, bucket, entries, answer.hours * 3_600, title);
  await showLinks(job, links);
}

/** Shows the links as they are created. While the notice is visible, a closed dialog can be opened again. */
async function showLinks(job: Job<ObjectEntry>, links: MadeLinks): Promise<void> {
  const texts = t.value.links;
  await ask<void>((answer) => <LinksMade job={job} links={links} onClose={() => answer()} />);
  if (links.made.length === 0 && !job.isActive.value) return;
  notify(texts.closed, { action: { label: texts.show, act: () => void showLinks(job, links) } });
}

function LinksDialog({
  bucket,
  entries,
  onDone,
}: {
  readonly bucket: string;
  readonly entries: readonly Entry[];
  readonly onDone: (answer: Answer) => void;
}) {
  const [hours, setHours] = useState('24');
  const texts = t.value.links;
  const entry = entries.find(({ kind }) => kind === 'object') ?? entries[0]!;
  const target = config.value!;
  return (
    <DialogForm
      commands={[
        { label: 'curl', command: createLinkCommand(target, bucket, linkKey(entry), Number(hours) * 3_600) },
        { label: `curl: ${texts.revokeAll}`, command: revokeLinkCommand(target, bucket, linkKey(entry)) },
      ]}
      title={texts.title(namesOf(entries))}
      submit={texts.make}
      onSubmit={() => onDone({ act: 'make', hours: Number(hours) })}
    >
      <p>{texts.meaning}</p>
      <Select
        label={t.value.details.linkFor}
        value={hours}
        options={[1, 4, 12, 24].map((each) => [String(each), t.value.details.hours(each)] as const)}
        onInput={setHours}
      />
      <p class="hint">{texts.revokeMeaning}</p>
      <div class="row">
        <Button kind="bad" onClick={() => onDone({ act: 'revoke' })}>
          {texts.revokeAll}
        </Button>
      </div>
    </DialogForm>
  );
}

function LinksMade({
  job,
  links,
  onClose,
}: {
  readonly job: Job<ObjectEntry>;
  readonly links: MadeLinks;
  readonly onClose: () => void;
}) {
  const texts = t.value.links;
  const more = links.count.value - maxShown;
  const shown = sorted(links.made.slice(0, maxShown));
  const failed = job.failures.value.length;
  const { kinds: _, ...words } = t.value.transfers;
  return (
    <DialogForm
      commands="none"
      title={texts.title(visibleName(job.spec.title))}
      submit={t.value.common.close}
      isOnlyClosed
      onSubmit={onClose}
    >
      <p role="status">
        {[
          words.progress(number(job.finished.value), number(job.found.value)),
          words.states[job.state.value],
          failed > 0 ? words.failed(failed, number(failed)) : '',
        ]
          .filter((text) => text !== '')
          .join(' · ')}
      </p>
      <ol class="made-links" tabIndex={0} aria-label={t.value.details.publicLinks}>
        {shown.map(({ key, url }) => (
          <li key={key}>
            <span class="grow">
              {visibleName(key)}
              <span class="mono small muted block">{url}</span>
            </span>
            <CopyButton text={url} />
          </li>
        ))}
      </ol>
      {more > 0 && <p class="hint">{texts.more(number(more))}</p>}
      <p class="hint">{texts.once}</p>
      <div class="row wrap">
        <CopyButton text={() => listOf(links.made)} label={texts.copyAll} />
        <Button icon="download" onClick={() => saveText('public-links.tsv', listOf(links.made))}>
          {texts.save}
        </Button>
        {job.isActive.value && <Button onClick={() => job.stop()}>{words.stop}</Button>}
      </div>
    </DialogForm>
  );
}

/** The number of links shown. The file and the clipboard have all of them. */
const maxShown = 500;

const sorted = (links: readonly MadeLink[]): MadeLink[] => links.toSorted((a, b) => (a.key < b.key ? -1 : 1));

/** Returns the names and links as a table. A name may hold tabs and line breaks; as a column it must not. */
const listOf = (links: readonly MadeLink[]): string =>
  sorted(links)
    .map(({ key, url }) => `${visibleName(key)}\t${url}\n`)
    .join('');
