import { useState } from 'preact/hooks';
import { awsCommand } from '../../format/commands.ts';
import { aclCommand } from '../../format/documents.ts';
import { t } from '../../messages/messages.ts';
import { AclEditor } from '../../panels/acl-editor.tsx';
import { deletePolicy, getAcl, getPolicy, putAcl, putPolicy, type Acl } from '../../s3/access.ts';
import { loadFacts } from '../../session/known-buckets.ts';
import { config, session } from '../../session/session.ts';
import { Button } from '../../ui/button.tsx';
import { CommandLine } from '../../ui/command-line.tsx';
import { useSaving } from '../../ui/form.ts';
import { useLoaded } from '../../ui/loaded.ts';
import { ErrorBox, notify } from '../../ui/notices.tsx';
import { PublicAccessBlockSection } from './public-access-block.tsx';
import { addStatement, checkPolicy, isPublicPolicy, statements, type StatementName } from './policy.ts';

/** The access to a bucket: public access block, ACL and policy. */
export function AccessSection({ bucket }: { readonly bucket: string }) {
  const { client } = session.value!;
  const texts = t.value.settings;
  const acl = useLoaded(() => getAcl(client, { bucket }), [client, bucket]);
  const policy = useLoaded(async () => (await getPolicy(client, bucket)) ?? '', [client, bucket]);
  const save = async (next: Acl): Promise<void> => {
    await putAcl(client, { bucket }, next);
    notify(t.value.common.saved);
    acl.reload();
    void loadFacts(client, bucket, true);
  };
  return (
    <div class="stack">
      <PublicAccessBlockSection bucket={bucket} />
      <section class="stack tight">
        <h2>{texts.bucketAcl}</h2>
        {acl.error !== undefined && <ErrorBox error={acl.error} retry={acl.reload} />}
        {acl.value && (
          <AclEditor
            key={JSON.stringify(acl.value)}
            acl={acl.value}
            isBucket
            commandOf={(each) => aclCommand(config.value!, { bucket }, each)}
            onSave={save}
          />
        )}
      </section>
      <section class="stack tight">
        <h2>{texts.policy}</h2>
        {policy.error !== undefined && <ErrorBox error={policy.error} retry={policy.reload} />}
        {policy.value !== undefined && (
          <PolicyEditor key={policy.value} bucket={bucket} policy={policy.value} onChanged={policy.reload} />
        )}
      </section>
    </div>
  );
}

function PolicyEditor({
  bucket,
  policy,
  onChanged,
}: {
  readonly bucket: string;
  readonly policy: string;
  readonly onChanged: () => void;
}) {
  const { client } = session.value!;
  const [text, setText] = useState(() => pretty(policy));
  const { failure, save } = useSaving();
  const texts = t.value.settings;
  const fault = text.trim() === '' ? undefined : checkPolicy(text, bucket);
  const change = (act: () => Promise<void>): void =>
    void save(async () => {
      await act();
      notify(t.value.common.saved);
      onChanged();
      void loadFacts(client, bucket, true);
    });
  return (
    <>
      <p class="hint">{texts.policyHint}</p>
      {failure !== undefined && <ErrorBox error={failure} />}
      <textarea
        aria-label={texts.policy}
        aria-describedby="policy-state"
        rows={14}
        spellcheck={false}
        value={text}
        onInput={(event) => setText(event.currentTarget.value)}
      />
      <p id="policy-state" class={fault === undefined ? 'hint' : 'hint bad'} role="status">
        {fault ?? (text.trim() === '' ? '' : isPublicPolicy(text) ? texts.policyPublic : texts.policyOk)}
      </p>
      <div class="row wrap">
        <select
          aria-label={texts.addStatement}
          value=""
          onChange={(event) => {
            const name = event.currentTarget.value as StatementName | '';
            if (name !== '') setText(addStatement(text, statements[name](bucket)));
            event.currentTarget.value = '';
          }}
        >
          <option value="">{texts.addStatement}</option>
          <option value="publicRead">{texts.publicReadStatement}</option>
          <option value="publicList">{texts.publicListStatement}</option>
          <option value="project">{texts.projectStatement}</option>
          <option value="denyInsecure">{texts.denyInsecureStatement}</option>
        </select>
        <span class="grow" />
        {policy !== '' && (
          <Button kind="bad" onClick={() => change(() => deletePolicy(client, bucket))}>
            {texts.deletePolicy}
          </Button>
        )}
        <Button
          kind="primary"
          disabled={text.trim() === '' || fault !== undefined || text === pretty(policy)}
          onClick={() => change(() => putPolicy(client, bucket, text))}
        >
          {texts.savePolicy}
        </Button>
      </div>
      <CommandLine
        command={awsCommand(
          config.value!,
          's3api',
          'put-bucket-policy',
          '--bucket',
          bucket,
          '--policy',
          'file://policy.json',
        )}
      />
      {policy !== '' && (
        <CommandLine
          label={`${t.value.common.command}: ${texts.deletePolicy}`}
          command={awsCommand(config.value!, 's3api', 'delete-bucket-policy', '--bucket', bucket)}
        />
      )}
    </>
  );
}

function pretty(policy: string): string {
  try {
    return JSON.stringify(JSON.parse(policy), null, 2);
  } catch {
    return policy;
  }
}
