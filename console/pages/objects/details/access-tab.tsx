import { readersOf } from './readers.ts';
import { useChanges } from '../changes.ts';
import { aclCommand } from '../../../format/documents.ts';
import { t } from '../../../messages/messages.ts';
import { AclEditor } from '../../../panels/acl-editor.tsx';
import { encodePath } from '../../../s3/address.ts';
import {
  getAcl,
  getPolicy,
  getPublicAccessBlock,
  isOpen,
  listPublicLinks,
  putAcl,
  withPublicRead,
} from '../../../s3/access.ts';
import type { Place } from '../../../s3/objects.ts';
import { config, session } from '../../../session/session.ts';
import { CommandLine } from '../../../ui/command-line.tsx';
import { useLoaded } from '../../../ui/loaded.ts';
import { attempt, ErrorBox, notify } from '../../../ui/notices.tsx';

/** The access to an object, in words and as an ACL to edit. */
export function AccessTab({ place }: { readonly place: Place }) {
  const { client } = session.value!;
  const { bucket, key } = place;
  const texts = t.value.details;
  const loaded = useLoaded(async () => {
    const [acl, policy, block, links] = await Promise.all([
      getAcl(client, place),
      getPolicy(client, bucket).catch(() => undefined),
      getPublicAccessBlock(client, bucket).catch(() => undefined),
      listPublicLinks(client, place).catch(() => []),
    ]);
    return { acl, policy, block, links };
  }, [client, bucket, key]);
  useChanges(bucket, loaded.reload);
  if (loaded.error !== undefined) return <ErrorBox error={loaded.error} retry={loaded.reload} />;
  if (loaded.value === undefined) return <div class="skeleton" />;
  const { acl } = loaded.value;
  const open = isOpen(acl);
  const address = `${config.value!.endpoint}${encodePath(`/${bucket}/${key}`)}`;
  const save = async (next: typeof acl): Promise<void> => {
    await putAcl(client, place, next);
    notify(t.value.common.saved);
    loaded.reload();
  };
  return (
    <>
      <section class="stack tight">
        <label class="check">
          <input
            type="checkbox"
            role="switch"
            checked={open}
            onChange={(event) => {
              const wanted = event.currentTarget.checked;
              void attempt(() => save(withPublicRead(acl, wanted))).then((ok) => !ok && loaded.reload());
            }}
          />
          <span>
            {texts.publicRead}
            <br />
            <span class="hint">{texts.publicReadHint(address)}</span>
          </span>
        </label>
        <CommandLine command={aclCommand(config.value!, place, withPublicRead(acl, !open))} />
      </section>
      <section>
        <h3>{texts.who}</h3>
        <ul class="readers">
          {readersOf(loaded.value, bucket, key).map((line) => (
            <li key={line}>{line}</li>
          ))}
        </ul>
      </section>
      <section>
        <h3>{texts.acl}</h3>
        <AclEditor
          key={JSON.stringify(acl)}
          acl={acl}
          isBucket={false}
          commandOf={(each) => aclCommand(config.value!, place, each)}
          onSave={save}
        />
      </section>
    </>
  );
}
