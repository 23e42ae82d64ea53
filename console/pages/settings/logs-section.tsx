import { curlCommand } from '../../format/commands.ts';
import { visibleName } from '../../format/names.ts';
import { eventTexts } from '../../messages/events.ts';
import { t } from '../../messages/messages.ts';
import { listBuckets } from '../../s3/buckets.ts';
import { getLogging, loggingRequest, putLogging } from '../../s3/logging.ts';
import { config, session } from '../../session/session.ts';
import { Button } from '../../ui/button.tsx';
import { CommandLine } from '../../ui/command-line.tsx';
import { ask, DialogForm } from '../../ui/dialog.tsx';
import { useForm } from '../../ui/form.ts';
import { useLoaded } from '../../ui/loaded.ts';
import { attempt, ErrorBox, notify } from '../../ui/notices.tsx';
import { named, Select } from '../../ui/select.tsx';
import { TextField } from '../../ui/text-field.tsx';
import type { WrittenLogging } from '../../../shared/documents/logging.ts';

const formats = ['simple', 'EventTime', 'DeliveryTime'] as const;
type Format = (typeof formats)[number];

/** The access log of a bucket: whether it is written, and where. */
export function LogsSection({ bucket }: { readonly bucket: string }) {
  const { client } = session.value!;
  const texts = eventTexts.value.accessLogs;
  const loaded = useLoaded(async () => {
    const [logging, buckets] = await Promise.all([
      getLogging(client, bucket),
      // Without the right to list them, the name is typed.
      listBuckets(client).catch(() => []),
    ]);
    return { logging, names: buckets.map(({ name }) => name) };
  }, [client, bucket]);
  if (loaded.error !== undefined) return <ErrorBox error={loaded.error} retry={loaded.reload} />;
  if (loaded.value === undefined) return <div class="skeleton" />;
  const { logging, names } = loaded.value;
  const save = (next: WrittenLogging | undefined): void =>
    void attempt(async () => {
      await putLogging(client, bucket, next);
      notify(t.value.common.saved);
      loaded.reload();
    });
  const edit = async (): Promise<void> => {
    const next = await ask<WrittenLogging>((answer) => (
      <LogDialog bucket={bucket} logging={logging} names={names} onDone={answer} />
    ));
    if (next !== undefined) save(next);
  };
  const turnOff = async (): Promise<void> => {
    const sure = await ask<true>((answer) => (
      <DialogForm
        commands={[{ label: 'curl', command: curlCommand(config.value!, loggingRequest(bucket, undefined)) }]}
        title={texts.turnOffTitle}
        submit={texts.turnOff}
        danger
        onSubmit={() => answer(true)}
      >
        <p>{texts.turnOffMeaning}</p>
      </DialogForm>
    ));
    if (sure) save(undefined);
  };
  return (
    <div class="stack">
      <p class="muted">{texts.hint}</p>
      {logging === undefined ? (
        <p>{texts.isOff}</p>
      ) : (
        <>
          <p class="wrap-anywhere">{texts.isOn(visibleName(logging.target), visibleName(logging.prefix))}</p>
          <p class="muted">
            {texts.keyFormat}: {texts.formats[formatOf(logging)]}
          </p>
        </>
      )}
      <div class="row">
        <Button onClick={() => void edit()}>{logging === undefined ? texts.turnOn : texts.edit}</Button>
        {logging !== undefined && <Button onClick={() => void turnOff()}>{texts.turnOff}</Button>}
      </div>
      <CommandLine
        label="curl"
        command={curlCommand(
          config.value!,
          logging === undefined ? { method: 'GET', bucket, query: { logging: '' } } : loggingRequest(bucket, logging),
        )}
      />
    </div>
  );
}

function formatOf({ keyFormat }: WrittenLogging): Format {
  if (keyFormat === undefined || 'simple' in keyFormat) return 'simple';
  return keyFormat.partitioned.dateSource;
}

function LogDialog({
  bucket,
  logging,
  names,
  onDone,
}: {
  readonly bucket: string;
  readonly logging: WrittenLogging | undefined;
  readonly names: readonly string[];
  readonly onDone: (logging: WrittenLogging) => void;
}) {
  const texts = eventTexts.value.accessLogs;
  const { values, field } = useForm(() => ({
    target: logging?.target ?? names.find((name) => name !== bucket) ?? '',
    prefix: logging?.prefix ?? `${bucket}/`,
    format: logging === undefined ? 'DeliveryTime' : formatOf(logging),
  }));
  const { target, prefix, format } = values;
  const done: WrittenLogging = {
    target,
    prefix,
    // Grants have no field here.
    ...(logging?.grants && { grants: logging.grants }),
    keyFormat: format === 'simple' ? { simple: {} } : { partitioned: { dateSource: format } },
  };
  const isListed = names.includes(target) || (target === '' && names.length > 0);
  return (
    <DialogForm
      commands={
        target === '' ? [] : [{ label: 'curl', command: curlCommand(config.value!, loggingRequest(bucket, done)) }]
      }
      title={logging === undefined ? texts.turnOn : texts.edit}
      submit={t.value.common.save}
      disabled={target === ''}
      onSubmit={() => onDone(done)}
    >
      {isListed ? (
        <Select label={texts.target} hint={texts.targetHint} options={named(names)} {...field('target')} />
      ) : (
        <TextField label={texts.target} hint={texts.targetHint} maxLength={63} {...field('target')} />
      )}
      <TextField label={texts.prefix} maxLength={800} {...field('prefix')} />
      <Select label={texts.keyFormat} options={named(formats, texts.formats)} {...field('format')} />
    </DialogForm>
  );
}
