import { useState } from 'preact/hooks';
import { awsCommand } from '../format/commands.ts';
import { pathOf } from '../format/names.ts';
import { t } from '../messages/messages.ts';
import { go } from '../session/router.ts';
import { config } from '../session/session.ts';
import { ask, DialogForm, Field } from '../ui/dialog.tsx';

/** Asks for the name of an unlisted bucket, or a path in it, and opens it. */
export async function goToBucket(): Promise<void> {
  const text = await ask<string>((answer) => <GoToBucket onDone={answer} />);
  if (text === undefined) return;
  const { bucket, path } = pathOf(text);
  go({ page: 'objects', bucket, prefix: path });
}

function GoToBucket({ onDone }: { readonly onDone: (name: string) => void }) {
  const [name, setName] = useState('');
  const { bucket, path } = pathOf(name);
  return (
    <DialogForm
      commands={[
        {
          command: awsCommand(
            config.value!,
            's3',
            'ls',
            `s3://${bucket || 'my-bucket'}${path === '' ? '' : `/${path}`}`,
          ),
        },
      ]}
      title={t.value.buckets.goTitle}
      submit={t.value.buckets.go}
      disabled={bucket === ''}
      onSubmit={() => onDone(name)}
    >
      <Field label={t.value.buckets.name} hint={t.value.buckets.goHint}>
        {(ids) => (
          <input
            {...ids}
            autofocus
            autocomplete="off"
            spellcheck={false}
            value={name}
            onInput={(event) => setName(event.currentTarget.value)}
          />
        )}
      </Field>
    </DialogForm>
  );
}
