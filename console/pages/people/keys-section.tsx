import { confirm } from './confirm.tsx';
import { createKeyDialog } from './new-key.tsx';
import { date, exactDate, minute } from '../../messages/messages.ts';
import { people } from '../../messages/people.ts';
import { changes, lastUseOf, listKeys, type AccessKey, type LastUse } from '../../s3/iam.ts';
import { session } from '../../session/session.ts';
import { Button } from '../../ui/button.tsx';
import { useLoaded } from '../../ui/loaded.ts';
import { ErrorBox } from '../../ui/notices.tsx';

/** How many keys a user may have. */
const maxKeys = 2;

/** A key: its id, whether it works, and its age. */
export function KeyWords({ of: { AccessKeyId, Status, CreateDate } }: { readonly of: AccessKey }) {
  const texts = people.value;
  return (
    <span class="row wrap key-words">
      <span class="mono">{AccessKeyId}</span>
      <span class={Status === 'Active' ? 'badge good' : 'badge'}>
        {Status === 'Active' ? texts.active : texts.inactive}
      </span>
      <span class="muted" title={exactDate(CreateDate)}>
        {date(CreateDate)}
      </span>
    </span>
  );
}

/** When a key was last used, and what for. */
function UseWords({ of: id }: { readonly of: string }) {
  const { client } = session.value!;
  const texts = people.value;
  const { value: known, error } = useLoaded(async () => ({ use: await lastUseOf(client, id) }), [client, id]);
  const said = ({ at, service, region }: LastUse): string => texts.lastUse(minute(at), service.toUpperCase(), region);
  if (known === undefined && error === undefined) return <p class="hint">&nbsp;</p>;
  // Whoever may see keys need not see this: that it is not known is no fault of the page.
  const use = known === undefined ? texts.unknown : known.use ? said(known.use) : texts.neverUsed;
  return <p class="hint">{texts.lastUsed(use)}</p>;
}

/** The access keys of a user, which are made, replaced, switched off and deleted. */
export function KeysSection({ user }: { readonly user: string }) {
  const { client } = session.value!;
  const texts = people.value;
  const { value: keys, error, reload } = useLoaded(() => listKeys(client, user), [client, user]);
  const active = (keys ?? []).filter(({ Status }) => Status === 'Active');
  const isFull = (keys ?? []).length >= maxKeys;
  const create = async (old?: string): Promise<void> => {
    await createKeyDialog(user, old);
    reload();
  };
  return (
    <section class="stack tight" aria-labelledby="keys-title">
      <div class="section-head">
        <h2 id="keys-title">{texts.keys}</h2>
        <Button icon="plus" disabled={keys === undefined || isFull} onClick={() => void create()}>
          {texts.createKey}
        </Button>
      </div>
      {error !== undefined && <ErrorBox error={error} retry={reload} />}
      {keys?.length === 0 && <p>{texts.noKeys}</p>}
      {keys?.map((key) => (
        <KeyRow
          key={key.AccessKeyId}
          of={key}
          onRotate={isFull || key.Status !== 'Active' ? undefined : () => void create(key.AccessKeyId)}
          onChanged={reload}
        />
      ))}
      {active.length === maxKeys && <p class="hint">{texts.twoActive(active[0]!.AccessKeyId)}</p>}
      {isFull && <p class="hint">{texts.keyLimit}</p>}
    </section>
  );
}

function KeyRow({
  of: key,
  onRotate,
  onChanged,
}: {
  readonly of: AccessKey;
  readonly onRotate: (() => void) | undefined;
  readonly onChanged: () => void;
}) {
  const { UserName, AccessKeyId, Status } = key;
  const texts = people.value;
  const isActive = Status === 'Active';
  const isOwn = AccessKeyId === session.value!.accessKeyId;
  const own = isOwn && <p class="note-box">{texts.deactivateOwn}</p>;
  const turn = async (): Promise<void> => {
    const isChanged = await confirm({
      title: isActive ? texts.deactivateTitle(AccessKeyId) : texts.activateTitle(AccessKeyId),
      submit: isActive ? texts.deactivate : texts.activate,
      content: (
        <>
          <p>{isActive ? texts.deactivateMeaning : texts.activateMeaning}</p>
          {isActive && own}
        </>
      ),
      actions: [changes.setKey(UserName, AccessKeyId, isActive ? 'Inactive' : 'Active')],
    });
    if (isChanged) onChanged();
  };
  const remove = async (): Promise<void> => {
    const isChanged = await confirm({
      title: texts.deleteKeyTitle(AccessKeyId),
      submit: texts.deleteKey,
      danger: true,
      content: (
        <>
          <p>{texts.deleteKeyMeaning}</p>
          {own}
        </>
      ),
      actions: [changes.deleteKey(UserName, AccessKeyId)],
    });
    if (isChanged) onChanged();
  };
  return (
    <div class="rule" role="group" aria-label={AccessKeyId}>
      <div class="grow">
        <KeyWords of={key} />
        <UseWords of={AccessKeyId} />
      </div>
      {onRotate && (
        <Button kind="quiet" label={texts.rotateNamed(AccessKeyId)} onClick={onRotate}>
          {texts.rotate}
        </Button>
      )}
      <Button
        kind="quiet"
        label={isActive ? texts.deactivateNamed(AccessKeyId) : texts.activateNamed(AccessKeyId)}
        onClick={() => void turn()}
      >
        {isActive ? texts.deactivate : texts.activate}
      </Button>
      <Button icon="trash" tip={texts.deleteKeyNamed(AccessKeyId)} onClick={() => void remove()} />
    </div>
  );
}
