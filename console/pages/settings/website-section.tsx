import { useState } from 'preact/hooks';
import { addStatement, isPublicPolicy, statements } from './policy.ts';
import { isHost, RedirectRules } from './redirect-rules.tsx';
import { awsCommand } from '../../format/commands.ts';
import { websiteJson } from '../../format/documents.ts';
import { t } from '../../messages/messages.ts';
import { getPolicy, putPolicy } from '../../s3/access.ts';
import { deleteWebsite, getWebsite, putWebsite, type RedirectRule, type Website } from '../../s3/website.ts';
import { loadFacts } from '../../session/buckets.ts';
import { websiteAddress } from '../../session/config.ts';
import { config, session } from '../../session/session.ts';
import { CommandLine, CopyButton } from '../../ui/command-line.tsx';
import { useLoaded } from '../../ui/loaded.ts';
import { attempt, ErrorBox, notify } from '../../ui/notices.tsx';
import { Select } from '../../ui/select.tsx';
import { TextField } from '../../ui/text-field.tsx';

const newWebsite: Website = { kind: 'pages', index: 'index.html', error: '', rules: [] };

/** The website of a bucket: its switch, pages and redirects. */
export function WebsiteSection({ bucket }: { readonly bucket: string }) {
  const { client } = session.value!;
  const texts = t.value.website;
  const loaded = useLoaded(async () => ({ website: await getWebsite(client, bucket) }), [client, bucket]);
  if (loaded.error !== undefined) return <ErrorBox error={loaded.error} retry={loaded.reload} />;
  if (loaded.value === undefined) return <div class="skeleton" />;
  const { website } = loaded.value;
  return (
    <div class="stack settings">
      <p class="muted">{texts.hint}</p>
      {website === undefined ? <p>{texts.off}</p> : <Address bucket={bucket} />}
      {website?.kind === 'pages' && <Visitors bucket={bucket} />}
      <WebsiteForm key={JSON.stringify(website)} bucket={bucket} website={website} onChanged={loaded.reload} />
    </div>
  );
}

function WebsiteForm({
  bucket,
  website,
  onChanged,
}: {
  readonly bucket: string;
  readonly website: Website | undefined;
  readonly onChanged: () => void;
}) {
  const { client } = session.value!;
  const texts = t.value.website;
  const before = website ?? newWebsite;
  const [kind, setKind] = useState<Website['kind']>(before.kind);
  const [index, setIndex] = useState(before.kind === 'pages' ? before.index : 'index.html');
  const [errorPage, setErrorPage] = useState(before.kind === 'pages' ? before.error : '');
  const [rules, setRules] = useState<readonly RedirectRule[]>(before.kind === 'pages' ? before.rules : []);
  const [host, setHost] = useState(before.kind === 'redirect' ? before.host : '');
  const [protocol, setProtocol] = useState(before.kind === 'redirect' ? before.protocol : '');
  const [error, setError] = useState<unknown>();
  const next: Website =
    kind === 'pages' ? { kind, index, error: errorPage, rules } : { kind, host: host.trim(), protocol };
  const isBadIndex = kind === 'pages' && (index === '' || index.includes('/'));
  const isBadHost = kind === 'redirect' && !isHost(host.trim());
  const isChanged = website === undefined || JSON.stringify(next) !== JSON.stringify(website);
  const save = async (act: () => Promise<void>): Promise<void> => {
    setError(undefined);
    try {
      await act();
      notify(t.value.common.saved);
      onChanged();
    } catch (failure) {
      setError(failure);
    }
  };
  return (
    <form
      class="stack"
      onSubmit={(event) => {
        event.preventDefault();
        void save(() => putWebsite(client, bucket, next));
      }}
    >
      <Select
        label={texts.mode}
        value={kind}
        options={[
          ['pages', texts.pages],
          ['redirect', texts.redirectAll],
        ]}
        onChange={setKind}
      />
      {kind === 'pages' ? (
        <>
          <TextField
            label={texts.index}
            hint={texts.indexHint}
            error={isBadIndex ? texts.indexBad : undefined}
            value={index}
            onInput={setIndex}
          />
          <TextField label={texts.error} hint={texts.errorHint} value={errorPage} onInput={setErrorPage} />
          <RedirectRules
            rules={rules}
            commandOf={(each) => commandOf(bucket, { kind, index, error: errorPage, rules: each })}
            onChange={setRules}
          />
        </>
      ) : (
        <>
          <TextField
            label={texts.host}
            hint={texts.hostHint}
            error={isBadHost && host !== '' ? texts.hostBad : undefined}
            value={host}
            onInput={setHost}
          />
          <Select
            label={texts.protocol}
            value={protocol}
            options={[
              ['', texts.sameProtocol],
              ['https', 'https'],
              ['http', 'http'],
            ]}
            onChange={setProtocol}
          />
        </>
      )}
      {error !== undefined && <ErrorBox error={error} />}
      <div class="row">
        <button type="submit" class="primary" disabled={isBadIndex || isBadHost || !isChanged}>
          {website === undefined ? texts.turnOn : t.value.common.save}
        </button>
        {website !== undefined && (
          <button type="button" class="bad" onClick={() => void save(() => deleteWebsite(client, bucket))}>
            {texts.turnOff}
          </button>
        )}
      </div>
      <CommandLine command={commandOf(bucket, next)} />
      {website !== undefined && (
        <CommandLine
          label={`${t.value.common.command}: ${texts.turnOff}`}
          command={awsCommand(config.value!, 's3api', 'delete-bucket-website', '--bucket', bucket)}
        />
      )}
    </form>
  );
}

function commandOf(bucket: string, website: Website): string {
  if (website.kind === 'redirect' || website.rules.length > 0) {
    const words = ['put-bucket-website', '--bucket', bucket, '--website-configuration', websiteJson(website)];
    return awsCommand(config.value!, 's3api', ...words);
  }
  const error = website.error === '' ? [] : ['--error-document', website.error];
  return awsCommand(config.value!, 's3', 'website', `s3://${bucket}`, '--index-document', website.index, ...error);
}

/** Shows the address of the website. */
function Address({ bucket }: { readonly bucket: string }) {
  const address = websiteAddress(config.value!, bucket);
  if (address === undefined) return <p class="hint">{t.value.website.notServed}</p>;
  return (
    <dl class="details-list">
      <dt>{t.value.website.address}</dt>
      <dd class="row">
        <a class="mono" href={address} target="_blank" rel="noreferrer">
          {address}
        </a>
        <CopyButton text={address} />
      </dd>
    </dl>
  );
}

/** Shows whether anonymous visitors can read the bucket, and offers to allow it. */
function Visitors({ bucket }: { readonly bucket: string }) {
  const { client } = session.value!;
  const texts = t.value.website;
  const loaded = useLoaded(async () => (await getPolicy(client, bucket)) ?? '', [client, bucket]);
  const policy = loaded.value;
  // Without the right to read the policy, nothing is shown.
  if (policy === undefined) return null;
  if (policy !== '' && isPublicPolicy(policy)) return <p class="hint">{texts.isOpen}</p>;
  const withRead = addStatement(policy, statements.publicRead(bucket));
  const next = addStatement(withRead, statements.publicList(bucket));
  const command = ['put-bucket-policy', '--bucket', bucket, '--policy', JSON.stringify(JSON.parse(next))];
  const open = (): void =>
    void attempt(async () => {
      await putPolicy(client, bucket, next);
      notify(texts.opened);
      loaded.reload();
      await loadFacts(client, bucket, true);
    });
  return (
    <div class="note-box stack tight">
      <p>{texts.anonymous}</p>
      <p class="hint">{texts.openMeaning}</p>
      <div class="row">
        <button type="button" onClick={open}>
          {texts.openBucket}
        </button>
      </div>
      <CommandLine command={awsCommand(config.value!, 's3api', ...command)} />
    </div>
  );
}
