import { useState } from 'preact/hooks';
import { curlCommand } from '../../../format/commands.ts';
import { t } from '../../../messages/messages.ts';
import { isUnreachable } from '../../../s3/address.ts';
import { everyObject } from '../../../s3/listing.ts';
import { requestToRename, type Place } from '../../../s3/objects.ts';
import { config, session } from '../../../session/session.ts';
import { Button } from '../../../ui/button.tsx';
import { CommandLine } from '../../../ui/command-line.tsx';
import { ask, DialogForm, Field } from '../../../ui/dialog.tsx';
import { attempt } from '../../../ui/notices.tsx';
import { renameTo } from '../object-actions.tsx';

/** Replaces the details of an object that no browser can request: the reason, and what the user can do. */
export function Unreachable({ place: { bucket, key } }: { readonly place: Place }) {
  const texts = t.value.objects;
  const rename = async (): Promise<void> => {
    const name = await ask<string>((answer) => <ReachableDialog bucket={bucket} objectKey={key} onDone={answer} />);
    if (name === undefined) return;
    await attempt(async () => {
      // By a listing, since the object itself cannot be requested.
      for await (const page of everyObject(session.peek()!.client, bucket, key)) {
        const entry = page.find((each) => each.key === key);
        if (entry !== undefined) return renameTo(bucket, entry, name);
      }
    });
  };
  return (
    <div class="details-body stack">
      <p>{texts.unreachable}</p>
      <div class="row">
        <Button onClick={() => void rename()}>{texts.makeReachable}</Button>
      </div>
      <CommandLine label="curl: HEAD" command={curlCommand(config.value!, { method: 'HEAD', bucket, key })} />
      <CommandLine
        label={`curl: ${texts.download}`}
        command={`${curlCommand(config.value!, { method: 'GET', bucket, key })} --output object`}
      />
    </div>
  );
}

function ReachableDialog({
  bucket,
  objectKey,
  onDone,
}: {
  readonly bucket: string;
  readonly objectKey: string;
  readonly onDone: (key: string) => void;
}) {
  const texts = t.value.objects;
  const [name, setName] = useState(() => objectKey.replace(/(?<=^|\/)\.{1,2}(?=\/|$)/g, '_'));
  const isBad = isUnreachable(name);
  return (
    <DialogForm
      commands={[{ label: 'curl', command: curlCommand(config.value!, requestToRename(bucket, objectKey, name)) }]}
      title={texts.reachableTitle}
      submit={t.value.common.save}
      disabled={name === '' || name.endsWith('/') || isBad}
      onSubmit={() => onDone(name)}
    >
      <Field label={texts.wholeName} hint={texts.renameHint} error={isBad ? texts.wholeNameBad : undefined}>
        {(ids) => (
          <input
            {...ids}
            autofocus
            spellcheck={false}
            autocomplete="off"
            value={name}
            onInput={(event) => setName(event.currentTarget.value)}
          />
        )}
      </Field>
    </DialogForm>
  );
}
