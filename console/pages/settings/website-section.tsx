import { addStatement, isPublicPolicy, statements } from './policy.ts';
import { isHost, protocolOptions, RedirectRules } from './redirect-rules.tsx';
import { awsCommand } from '../../format/commands.ts';
import { websiteJson } from '../../format/documents.ts';
import { t } from '../../messages/messages.ts';
import { getPolicy, putPolicy } from '../../s3/access.ts';
import { deleteWebsite, getWebsite, putWebsite, type RedirectRule, type Website } from '../../s3/website.ts';
import { loadFacts } from '../../session/known-buckets.ts';
import { websiteAddress } from '../../session/config.ts';
import { config, session } from '../../session/session.ts';
import { Button } from '../../ui/button.tsx';
import { CommandLine, CopyButton } from '../../ui/command-line.tsx';
import { useForm, useSaving } from '../../ui/form.ts';
import { useLoaded } from '../../ui/loaded.ts';
import { attempt, ErrorBox, notify } from '../../ui/notices.tsx';
import { named, Select } from '../../ui/select.tsx';
import { TextField } from '../../ui/text-field.tsx';

const newForm = {
  kind: 'pages' as Website['kind'],
  index: 'index.html',
  error: '',
  rules: [] as readonly RedirectRule[],
  host: '',
  protocol: '',
};

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
  const { values, field } = useForm<typeof newForm>(() => ({ ...newForm, ...website }));
  const { kind, index, error, rules, host, protocol } = values;
  const { failure, save } = useSaving();
  const next: Website = kind === 'pages' ? { kind, index, error, rules } : { kind, host: host.trim(), protocol };
  const isBadIndex = kind === 'pages' && (index === '' || index.includes('/'));
  const isBadHost = kind === 'redirect' && !isHost(host.trim());
  const isChanged = website === undefined || JSON.stringify(next) !== JSON.stringify(website);
  const change = (act: () => Promise<void>): void =>
    void save(async () => {
      await act();
      notify(t.value.common.saved);
      onChanged();
    });
  return (
    <form
      class="stack"
      onSubmit={(event) => {
        event.preventDefault();
        change(() => putWebsite(client, bucket, next));
      }}
    >
      <Select
        label={texts.mode}
        options={named(['pages', 'redirect'] as const, { pages: texts.pages, redirect: texts.redirectAll })}
        {...field('kind')}
      />
      {kind === 'pages' ? (
        <>
          <TextField
            label={texts.index}
            hint={texts.indexHint}
            error={isBadIndex ? texts.indexBad : undefined}
            {...field('index')}
          />
          <TextField label={texts.error} hint={texts.errorHint} {...field('error')} />
          <RedirectRules
            rules={rules}
            commandOf={(each) => commandOf(bucket, { kind, index, error, rules: each })}
            onChange={field('rules').onInput}
          />
        </>
      ) : (
        <>
          <TextField
            label={texts.host}
            hint={texts.hostHint}
            error={isBadHost && host !== '' ? texts.hostBad : undefined}
            {...field('host')}
          />
          <Select label={texts.protocol} options={protocolOptions()} {...field('protocol')} />
        </>
      )}
      {failure !== undefined && <ErrorBox error={failure} />}
      <div class="row">
        <Button type="submit" kind="primary" disabled={isBadIndex || isBadHost || !isChanged}>
          {website === undefined ? texts.turnOn : t.value.common.save}
        </Button>
        {website !== undefined && (
          <Button kind="bad" onClick={() => change(() => deleteWebsite(client, bucket))}>
            {texts.turnOff}
          </Button>
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
        <Button onClick={open}>{texts.openBucket}</Button>
      </div>
      <CommandLine command={awsCommand(config.value!, 's3api', ...command)} />
    </div>
  );
}
