import { curlCommand } from '../../format/commands.ts';
import { eventTexts } from '../../messages/events.ts';
import { number, t } from '../../messages/messages.ts';
import {
  putWebhook,
  removeRequest,
  removeWebhook,
  rotateRequest,
  rotateWebhook,
  testRequest,
  testWebhook,
  webhookRequest,
  type Webhook,
  type WebhookSettings,
} from '../../s3/events.ts';
import { config, session } from '../../session/session.ts';
import { Button } from '../../ui/button.tsx';
import { CommandLine, CopyButton } from '../../ui/command-line.tsx';
import { ask, DialogForm } from '../../ui/dialog.tsx';
import { useForm } from '../../ui/form.ts';
import { attempt, notify } from '../../ui/notices.tsx';
import { named, Select } from '../../ui/select.tsx';
import { TextField } from '../../ui/text-field.tsx';
import type { S3Request } from '../../s3/client.ts';

/** The webhooks of the project: added, changed, tested and removed. */
export function WebhooksList({
  webhooks,
  onChanged,
}: {
  readonly webhooks: readonly Webhook[];
  readonly onChanged: () => void;
}) {
  const { client } = session.value!;
  const texts = eventTexts.value.events;
  const edit = async (webhook: Webhook | undefined): Promise<void> => {
    const taken = webhooks.map(({ name }) => name);
    const next = await ask<WebhookSettings>((answer) => (
      <WebhookDialog webhook={webhook} taken={taken} onDone={answer} />
    ));
    if (next === undefined) return;
    await attempt(async () => {
      const secret = await putWebhook(client, next);
      notify(t.value.common.saved);
      onChanged();
      if (secret !== undefined) await showSecret(secret);
    });
  };
  const test = (name: string): void =>
    void attempt(async () => {
      const reason = await testWebhook(client, name);
      notify(reason === undefined ? texts.taken(name) : texts.notTaken(name, reason));
    });
  const rotate = async (name: string): Promise<void> => {
    if (!(await isSure(texts.rotateTitle(name), texts.rotateMeaning, texts.rotate, rotateRequest(name)))) return;
    await attempt(async () => {
      const secret = await rotateWebhook(client, name);
      if (secret !== undefined) await showSecret(secret);
    });
  };
  const remove = async (name: string): Promise<void> => {
    if (!(await isSure(texts.removeTitle(name), texts.removeMeaning, t.value.common.remove, removeRequest(name))))
      return;
    await attempt(async () => {
      await removeWebhook(client, name);
      onChanged();
    });
  };
  return (
    <section class="stack" aria-labelledby="webhooks">
      <h2 id="webhooks">{texts.webhooks}</h2>
      <p class="muted">{texts.webhooksHint}</p>
      {webhooks.map((webhook) => {
        const { name, url, format, batch } = webhook;
        return (
          <section class="rule" key={name} aria-label={name}>
            <div class="grow">
              <strong class="wrap-anywhere">{name}</strong>
              <div class="muted wrap-anywhere">
                {url} · {texts.formats[format as keyof typeof texts.formats] ?? format} · {number(batch)}
              </div>
            </div>
            <Button kind="quiet" label={texts.testNamed(name)} onClick={() => test(name)}>
              {texts.test}
            </Button>
            <CopyButton name={`curl: ${texts.testNamed(name)}`} text={curlCommand(config.value!, testRequest(name))} />
            <Button kind="quiet" label={texts.rotateNamed(name)} onClick={() => void rotate(name)}>
              {texts.rotate}
            </Button>
            <Button kind="quiet" label={texts.editNamed(name)} onClick={() => void edit(webhook)}>
              {t.value.details.edit}
            </Button>
            <Button icon="trash" tip={texts.removeNamed(name)} onClick={() => void remove(name)} />
          </section>
        );
      })}
      {webhooks.length === 0 && <p>{texts.noWebhooks}</p>}
      <div class="row">
        <Button icon="plus" onClick={() => void edit(undefined)}>
          {texts.addWebhook}
        </Button>
      </div>
      <CommandLine label="curl" command={curlCommand(config.value!, { method: 'GET', query: { webhooks: '' } })} />
    </section>
  );
}

function WebhookDialog({
  webhook,
  taken,
  onDone,
}: {
  readonly webhook: Webhook | undefined;
  readonly taken: readonly string[];
  readonly onDone: (settings: WebhookSettings) => void;
}) {
  const texts = eventTexts.value.events;
  const { values, field } = useForm(() => ({
    name: webhook?.name ?? '',
    url: webhook?.url ?? '',
    format: webhook?.format ?? 's3',
    batch: String(webhook?.batch ?? 1),
  }));
  const { name, url, format, batch } = values;
  const isTaken = webhook === undefined && taken.includes(name);
  const most = format === 's3' ? 100 : 1;
  const isBatch = /^[1-9]\d{0,2}$/.test(batch) && Number(batch) <= most;
  const isReady = /^[\w-]{1,64}$/.test(name) && !isTaken && /^https?:\/\/\S+$/.test(url.trim()) && isBatch;
  const done: WebhookSettings = { name, url: url.trim(), format, batch };
  return (
    <DialogForm
      commands={isReady ? [{ label: 'curl', command: curlCommand(config.value!, webhookRequest(done)) }] : []}
      title={webhook === undefined ? texts.addWebhook : texts.editWebhook}
      submit={t.value.common.save}
      disabled={!isReady}
      onSubmit={() => onDone(done)}
    >
      {webhook === undefined && (
        <TextField
          label={texts.name}
          hint={texts.nameHint}
          error={isTaken ? texts.nameTaken : undefined}
          autofocus
          maxLength={64}
          {...field('name')}
        />
      )}
      <TextField label={texts.url} hint={texts.urlHint} maxLength={2048} {...field('url')} />
      <div class="pair-fields">
        <Select label={texts.format} options={named(['s3', 'cloudevents'], texts.formats)} {...field('format')} />
        <TextField
          label={texts.batch}
          error={isBatch ? undefined : texts.batchBad}
          inputMode="numeric"
          {...field('batch')}
        />
      </div>
    </DialogForm>
  );
}

/** Asks whether something is to be done that cannot be undone. */
async function isSure(title: string, meaning: string, submit: string, request: S3Request): Promise<boolean> {
  const sure = await ask<true>((answer) => (
    <DialogForm
      commands={[{ label: 'curl', command: curlCommand(config.value!, request) }]}
      title={title}
      submit={submit}
      danger
      onSubmit={() => answer(true)}
    >
      <p>{meaning}</p>
    </DialogForm>
  ));
  return sure === true;
}

async function showSecret(secret: string): Promise<void> {
  const texts = eventTexts.value.events;
  await ask<void>((answer) => (
    <DialogForm
      commands="none"
      title={texts.secretTitle}
      submit={t.value.common.close}
      isOnlyClosed
      onSubmit={() => answer()}
    >
      <p>{texts.secretMeaning}</p>
      <CommandLine command={secret} label={texts.secret} />
    </DialogForm>
  ));
}
