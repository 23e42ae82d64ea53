import { localTime } from '../../../format/local-time.ts';
import { legalHoldCommand, retentionCommand } from '../../../format/object-commands.ts';
import { exactDate, t } from '../../../messages/messages.ts';
import { SectionHead } from '../../../panels/section-head.tsx';
import { getObjectLock, lockModes, putLegalHold, putRetention, type Retention } from '../../../s3/object-lock.ts';
import type { ObjectHead, Place } from '../../../s3/objects.ts';
import { config, session } from '../../../session/session.ts';
import { noteChange } from '../../../transfers/queue.ts';
import { CommandLine } from '../../../ui/command-line.tsx';
import { ask, DialogForm } from '../../../ui/dialog.tsx';
import { useForm, useSaving } from '../../../ui/form.ts';
import { useLoaded } from '../../../ui/loaded.ts';
import { attempt, ErrorBox, notify } from '../../../ui/notices.tsx';
import { named, Select } from '../../../ui/select.tsx';
import { Switch } from '../../../ui/switch.tsx';
import { TimeField } from '../../../ui/text-field.tsx';

/** An object, and where it is. */
export interface HeadProps {
  readonly place: Place;
  readonly object: ObjectHead;
}

/** The retention and the legal hold of a version, where the bucket has object lock. */
export function LockPanel({ place, object }: HeadProps) {
  const { client } = session.value!;
  const texts = t.value.details;
  const { bucket } = place;
  const isVersion = object.versionId !== 'null';
  const loaded = useLoaded(
    async () => (isVersion ? getObjectLock(client, bucket).catch(() => undefined) : undefined),
    [client, bucket, isVersion],
  );
  const { retention, isHeld } = object.lock;
  if (loaded.value === undefined && retention === undefined && !isHeld) return null;
  const version = { ...place, versionId: object.versionId };
  return (
    <section>
      <SectionHead title={texts.lock} onEdit={() => void editRetention(version, retention)} />
      <dl class="details-list">
        <dt>{texts.retention}</dt>
        <dd>
          {retention
            ? texts.retainedUntil(t.value.lock.modes[retention.mode], exactDate(retention.until))
            : texts.noRetention}
        </dd>
      </dl>
      <Switch
        label={texts.hold}
        hint={texts.holdHint}
        value={isHeld}
        onInput={(on) =>
          void attempt(async () => {
            await putLegalHold(client, version, on);
            noteChange(bucket);
            notify(t.value.common.saved);
          })
        }
      />
      <CommandLine command={legalHoldCommand(config.value!, version, !isHeld)} />
    </section>
  );
}

async function editRetention(place: Place, before: Retention | undefined): Promise<void> {
  if ((await ask<true>((end) => <RetentionDialog place={place} before={before} onDone={() => end(true)} />)) !== true)
    return;
  noteChange(place.bucket);
  notify(t.value.common.saved);
}

function RetentionDialog({
  place,
  before,
  onDone,
}: {
  readonly place: Place;
  readonly before: Retention | undefined;
  readonly onDone: () => void;
}) {
  const { client } = session.value!;
  const texts = t.value.details;
  const { failure, busy, save } = useSaving();
  const { values, field } = useForm(() => ({
    mode: before?.mode ?? ('none' as const),
    until: before === undefined ? '' : localTime(before.until.getTime()),
    bypass: false,
  }));
  const { mode, bypass } = values;
  const time = Date.parse(values.until);
  const isBad = mode !== 'none' && !(time > Date.now());
  const wanted = mode === 'none' || isBad ? undefined : { mode, until: new Date(time) };
  return (
    <DialogForm
      title={texts.retentionTitle}
      commands={isBad ? [] : [{ command: retentionCommand(config.value!, place, wanted, bypass) }]}
      submit={t.value.common.save}
      disabled={busy || isBad}
      onSubmit={() => void save(() => putRetention(client, place, wanted, bypass).then(onDone))}
    >
      {failure !== undefined && <ErrorBox error={failure} />}
      <Select
        label={t.value.lock.mode}
        options={[['none', t.value.lock.none], ...named(lockModes, t.value.lock.modes)]}
        {...(mode !== 'none' && {
          hint: mode === 'COMPLIANCE' ? t.value.lock.complianceHint : t.value.lock.governanceHint,
        })}
        {...field('mode')}
      />
      {mode !== 'none' && <TimeField label={texts.retainUntil} {...field('until')} />}
      {isBad && <p class="hint">{texts.retainBad}</p>}
      {before?.mode === 'GOVERNANCE' && <Switch label={texts.bypass} hint={texts.bypassHint} {...field('bypass')} />}
    </DialogForm>
  );
}
