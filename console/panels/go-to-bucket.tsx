import { useState } from 'preact/hooks';
import { awsCommand } from '../format/commands.ts';
import { t } from '../messages/messages.ts';
import { go } from '../session/router.ts';
import { config } from '../session/session.ts';
import { ask, DialogForm, Field } from '../ui/dialog.tsx';

/** Asks for the name of an unlisted bucket, and opens it. */
export async function goToBucket(): Promise<void> {
  const name = await ask<string>((answer) => <GoToBucket onDone={answer} />);
  if (name !== undefined) go({ page: 'objects', bucket: name, prefix: '' });
}

function GoToBucket({ onDone }: { readonly onDone: (name: string) => void }) {
  const [name, setName] = useState('');
  return (
    <DialogForm
      commands={[{ command: awsCommand(config.value!, 's3', 'ls', `s3://${name.trim() || 'my-bucket'}`) }]}
      title={t.value.buckets.goTitle}
      submit={t.value.buckets.go}
      disabled={name.trim() === ''}
      onSubmit={() => onDone(name.trim())}
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
