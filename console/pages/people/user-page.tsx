import { useState } from 'preact/hooks';
import { deleteUserDialog } from './delete-user.tsx';
import { GroupsSection } from './groups-section.tsx';
import { KeysSection } from './keys-section.tsx';
import { PoliciesSection } from './policies-section.tsx';
import { nameOfArn } from './policy-words.ts';
import { Refused } from './refused.tsx';
import { RightsSection } from './rights-section.tsx';
import { visibleName } from '../../format/names.ts';
import { date, exactDate } from '../../messages/messages.ts';
import { people } from '../../messages/people.ts';
import { getUser } from '../../s3/iam.ts';
import { addressOf, go } from '../../session/router.ts';
import { session } from '../../session/session.ts';
import { Button } from '../../ui/button.tsx';
import { Icon } from '../../ui/icons.tsx';
import { useLoaded } from '../../ui/loaded.ts';

/** A user: keys, policies, groups, and what they may do. */
export function UserPage({ user: name }: { readonly user: string }) {
  const { client } = session.value!;
  const texts = people.value;
  const { value: user, error, reload } = useLoaded(() => getUser(client, name), [client, name]);
  const [round, setRound] = useState(0);
  const changed = (): void => setRound((before) => before + 1);
  const remove = async (): Promise<void> => {
    if (await deleteUserDialog(name)) go({ page: 'people' });
  };
  const boundary = user?.PermissionsBoundary?.PermissionsBoundaryArn;
  return (
    <div class="page person">
      <div class="page-head">
        <h1 class="wrap-anywhere">{visibleName(name)}</h1>
        <a class="button" href={addressOf({ page: 'people' })}>
          <Icon name="back" />
          {texts.all}
        </a>
        {user && (
          <Button kind="bad" icon="trash" onClick={() => void remove()}>
            {texts.remove}
          </Button>
        )}
      </div>
      {error !== undefined && <Refused error={error} retry={reload} />}
      {user === undefined && error === undefined && <div class="skeleton" />}
      {user && (
        <div class="sections">
          <dl class="details-list">
            <dt>{texts.arn}</dt>
            <dd class="mono">{user.Arn}</dd>
            <dt>{texts.created}</dt>
            <dd title={exactDate(user.CreateDate)}>{date(user.CreateDate)}</dd>
            <dt>{texts.boundary}</dt>
            <dd>{boundary === undefined ? texts.noBoundary : texts.boundaryMeaning(nameOfArn(boundary))}</dd>
          </dl>
          <KeysSection user={name} />
          <PoliciesSection user={user} onChanged={changed} />
          <GroupsSection user={name} onChanged={changed} />
          <RightsSection arn={user.Arn} round={round} />
        </div>
      )}
    </div>
  );
}
