import { objectLockCommand } from '../../format/documents.ts';
import { t } from '../../messages/messages.ts';
import { getVersioning } from '../../s3/buckets.ts';
import { getObjectLock, lockModes, putObjectLock, type DefaultRetention } from '../../s3/object-lock.ts';
import { loadFacts } from '../../session/known-buckets.ts';
import { config, session } from '../../session/session.ts';
import { Button } from '../../ui/button.tsx';
import { CommandLine } from '../../ui/command-line.tsx';
import { ask, DialogForm } from '../../ui/dialog.tsx';
import { useForm } from '../../ui/form.ts';
import { useLoaded } from '../../ui/loaded.ts';
import { attempt, ErrorBox, notify } from '../../ui/notices.tsx';
import { named, Select } from '../../ui/select.tsx';
import { TextField } from '../../ui/text-field.tsx';

/** The object lock of a bucket: turning it on, which is for good, and the retention that new versions get by default. */
export function LockSection({ bucket }: { readonly bucket: string }) {
  const { client } = session.value!;
  const texts = t.value.lock;
  const loaded = useLoaded(async () => {
    const [versioning, lock] = await Promise.all([getVersioning(client, bucket), getObjectLock(client, bucket)]);
    return { versioning, lock };
  }, [client, bucket]);
  if (loaded.error !== undefined) return <ErrorBox error={loaded.error} retry={loaded.reload} />;
  if (loaded.value === undefined) return <div class="skeleton" />;
  const { versioning, lock } = loaded.value;
  const save = (retention: DefaultRetention | undefined): void =>
    void attempt(async () => {
      await putObjectLock(client, bucket, retention);
      notify(t.value.common.saved);
      loaded.reload();
      await loadFacts(client, bucket, true);
    });
  if (lock !== undefined) {
    return (
      <div class="stack">
        <p>{texts.on}</p>
        <RetentionForm bucket={bucket} before={lock.retention} onSave={save} />
      </div>
    );
  }
  return (
    <div class="stack">
      <p>{texts.off}</p>
      <p class="hint">{versioning === 'Enabled' ? texts.forGood : texts.needsVersioning}</p>
      <div class="row">
        <Button
          disabled={versioning !== 'Enabled'}
          onClick={() => void confirmed(bucket).then((is) => (is ? save(undefined) : undefined))}
        >
          {texts.enable}
        </Button>
      </div>
      <CommandLine command={objectLockCommand(config.value!, bucket, undefined)} />
    </div>
  );
}

async function confirmed(bucket: string): Promise<boolean> {
  const texts = t.value.lock;
  const answer = await ask<true>((end) => (
    <DialogForm
      title={texts.enableTitle(bucket)}
      commands={[{ command: objectLockCommand(config.value!, bucket, undefined) }]}
      submit={texts.enableSubmit}
      danger
      onSubmit={() => end(true)}
    >
      <p>{texts.forGood}</p>
    </DialogForm>
  ));
  return answer === true;
}

const longest = { days: 36_500, years: 100 } as const;

function RetentionForm({
  bucket,
  before,
  onSave,
}: {
  readonly bucket: string;
  readonly before: DefaultRetention | undefined;
  readonly onSave: (retention: DefaultRetention | undefined) => void;
}) {
  const texts = t.value.lock;
  const { values, field } = useForm(() => ({
    mode: before?.mode ?? ('none' as const),
    period: String(before?.period ?? 30),
    unit: before?.unit ?? ('days' as const),
  }));
  const { mode, unit } = values;
  const period = /^\d{1,5}$/.test(values.period) ? Number(values.period) : 0;
  const isBad = mode !== 'none' && (period < 1 || period > longest[unit]);
  const retention = mode === 'none' ? undefined : { mode, period, unit };
  const hints = { none: undefined, GOVERNANCE: texts.governanceHint, COMPLIANCE: texts.complianceHint };
  const hint = hints[mode];
  return (
    <section class="stack tight">
      <h2>{texts.retention}</h2>
      <p class="hint">{texts.retentionHint}</p>
      <Select
        label={texts.mode}
        options={[['none', texts.none], ...named(lockModes, texts.modes)]}
        {...(hint !== undefined && { hint })}
        {...field('mode')}
      />
      {mode !== 'none' && (
        <>
          <TextField
            label={texts.period}
            inputMode="numeric"
            error={isBad ? texts.periodBad : undefined}
            {...field('period')}
          />
          <Select label={texts.unit} options={named(['days', 'years'] as const, texts.units)} {...field('unit')} />
        </>
      )}
      <div class="row">
        <Button kind="primary" disabled={isBad} onClick={() => onSave(retention)}>
          {t.value.common.save}
        </Button>
      </div>
      {!isBad && <CommandLine command={objectLockCommand(config.value!, bucket, retention)} />}
    </section>
  );
}
