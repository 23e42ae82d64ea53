import { useEffect, useState } from 'preact/hooks';
import { rcFile } from '../../format/commands.ts';
import { language, languages, number, setLanguage, size, t, type Language } from '../../messages/messages.ts';
import { getAccount, type Account } from '../../s3/account.ts';
import { buckets, loadBuckets, loadUse, uses } from '../../session/known-buckets.ts';
import { config, session, signOut } from '../../session/session.ts';
import { Button } from '../../ui/button.tsx';
import { CommandLine } from '../../ui/command-line.tsx';
import { activeJobs } from '../../transfers/queue.ts';
import { ask, DialogForm, Field } from '../../ui/dialog.tsx';
import { ErrorBox } from '../../ui/notices.tsx';
import { saveText } from '../../ui/save-text.ts';

/** Signs out, and asks before if that stops transfers. */
async function leave(): Promise<void> {
  const texts = t.value.profile;
  const count = activeJobs.peek().length;
  const isSure = (): Promise<true | undefined> =>
    ask<true>((answer) => (
      <DialogForm
        commands="none"
        title={texts.signOutTitle}
        submit={texts.stopAndSignOut}
        danger
        onSubmit={() => answer(true)}
      >
        <p>{texts.signOutStops(count, number(count))}</p>
      </DialogForm>
    ));
  if (count === 0 || (await isSure())) await signOut('asked');
}

/** The profile: user, project, quotas and usage, and settings for other clients. */
export function ProfilePage() {
  const { client, accessKeyId, kept } = session.value!;
  const { endpoint, region, version } = config.value!;
  const [account, setAccount] = useState<Account>();
  const [error, setError] = useState<unknown>();
  const texts = t.value.profile;
  useEffect(() => {
    getAccount(client).then(setAccount, setError);
    void loadBuckets();
  }, [client]);
  useEffect(() => {
    for (const { name } of buckets.value ?? []) void loadUse(client, name);
  }, [client, buckets.value]);
  const own = (buckets.value ?? []).map(({ name }) => uses.value.get(name)).filter((each) => each !== undefined);
  const bytes = own.reduce((sum, each) => sum + (each.bytes || 0), 0);
  const objects = own.reduce((sum, each) => sum + (each.objects || 0), 0);
  const count = account?.bucketCount ?? buckets.value?.length ?? 0;
  const file = rcFile({ endpoint, region, project: account?.project.id ?? '', accessKeyId });
  return (
    <div class="page stack">
      <div class="page-head">
        <h1>{texts.title}</h1>
        <Button onClick={() => void leave()}>{texts.signOut}</Button>
      </div>
      {error !== undefined && <ErrorBox error={error} />}
      <dl class="details-list">
        {account && (
          <>
            <dt>{texts.user}</dt>
            <dd>{account.user}</dd>
            <dt>{texts.project}</dt>
            <dd>
              {account.project.displayName} <span class="muted">{account.project.email}</span>
            </dd>
            <dt>{texts.projectId}</dt>
            <dd class="mono">{account.project.id}</dd>
          </>
        )}
        <dt>{texts.accessKey}</dt>
        <dd class="mono">{accessKeyId}</dd>
        <dt>{texts.endpoint}</dt>
        <dd class="mono">{endpoint}</dd>
        <dt>{texts.region}</dt>
        <dd class="mono">{region}</dd>
        <dt>{texts.buckets}</dt>
        <dd>
          {account ? t.value.shell.quotaOf(number(count), number(account.bucketLimit)) : number(count)}
          {account && (
            <div class="meter short">
              <div style={{ width: `${Math.min(100, (count / account.bucketLimit) * 100)}%` }} />
            </div>
          )}
        </dd>
        <dt>{texts.used}</dt>
        <dd>
          {size(bytes)}, {t.value.common.objects(objects, number(objects))}
        </dd>
        <dt>{texts.version}</dt>
        <dd>{version}</dd>
      </dl>
      <p class="hint">{texts.quotaHint}</p>
      <p class="hint">{kept ? texts.kept : texts.notKept}</p>
      <section class="stack tight">
        <div class="section-head">
          <h2>{texts.rcFile}</h2>
          <Button icon="download" onClick={() => saveText('stillage.rc', file)}>
            {texts.download}
          </Button>
        </div>
        <p class="muted">{texts.rcMeaning}</p>
        <CommandLine command={file.trim()} label="stillage.rc" />
      </section>
      <div class="short-field">
        <Field label={texts.language}>
          {(ids) => (
            <select
              {...ids}
              value={language.value}
              onChange={(event) => void setLanguage(event.currentTarget.value as Language)}
            >
              {Object.entries(languages).map(([tag, name]) => (
                <option key={tag} value={tag} lang={tag}>
                  {name}
                </option>
              ))}
            </select>
          )}
        </Field>
      </div>
    </div>
  );
}
