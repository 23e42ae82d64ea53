import { useState } from 'preact/hooks';
import { t } from '../messages/messages.ts';
import { permissions, type Acl, type Grant, type Grantee, type Permission } from '../s3/access.ts';
import { Button } from '../ui/button.tsx';
import { CommandLine } from '../ui/command-line.tsx';
import { useSaving } from '../ui/form.ts';
import { ErrorBox } from '../ui/notices.tsx';

/** Edits the grants of an ACL to everybody, to all signed-in callers, and to projects (`project@customer`). */
export function AclEditor({
  acl,
  isBucket,
  commandOf,
  onSave,
}: {
  readonly acl: Acl;
  readonly isBucket: boolean;
  /** Returns the command that saves this ACL. */
  readonly commandOf: (acl: Acl) => string;
  readonly onSave: (acl: Acl) => Promise<void>;
}) {
  const [grants, setGrants] = useState<readonly Grant[]>(acl.grants);
  const [kind, setKind] = useState<'everybody' | 'signed-in' | 'project'>('everybody');
  const [project, setProject] = useState('');
  const [permission, setPermission] = useState<Permission>('READ');
  const { failure, busy, save } = useSaving();
  const texts = t.value.acl;
  const isChanged = grants !== acl.grants;

  const add = (): void => {
    const name = project.trim();
    const grantee: Grantee =
      kind !== 'project'
        ? { kind }
        : name.includes('@')
          ? { kind: 'email', email: name }
          : { kind: 'id', id: name, name };
    setGrants([...grants, { grantee, permission }]);
    setProject('');
  };

  return (
    <div class="stack tight">
      {failure !== undefined && <ErrorBox error={failure} />}
      <table>
        <thead>
          <tr>
            <th>{texts.grantee}</th>
            <th>{texts.permission}</th>
            <th class="fit">
              <span class="visually-hidden">{t.value.common.remove}</span>
            </th>
          </tr>
        </thead>
        <tbody>
          {grants.map((grant, index) => (
            <tr key={index}>
              <td title={granteeName(grant.grantee)}>
                {granteeName(grant.grantee)}{' '}
                {grant.grantee.kind === 'id' && grant.grantee.id === acl.owner.id && (
                  <span class="badge">{texts.owner}</span>
                )}
              </td>
              <td>{permissionName(grant.permission, isBucket)}</td>
              <td class="fit">
                <Button
                  icon="close"
                  label={`${t.value.common.remove}: ${granteeName(grant.grantee)}, ${permissionName(grant.permission, isBucket)}`}
                  onClick={() => setGrants(grants.filter((_, each) => each !== index))}
                />
              </td>
            </tr>
          ))}
        </tbody>
      </table>
      <div class="row wrap">
        <select
          aria-label={texts.grantee}
          class="grow"
          value={kind}
          onChange={(event) => setKind(event.currentTarget.value as typeof kind)}
        >
          <option value="everybody">{texts.everybody}</option>
          <option value="signed-in">{texts.signedIn}</option>
          <option value="project">{texts.project}</option>
        </select>
        <select
          aria-label={texts.permission}
          class="grow"
          value={permission}
          onChange={(event) => setPermission(event.currentTarget.value as Permission)}
        >
          {permissions.map((each) => (
            <option key={each} value={each}>
              {permissionName(each, isBucket)}
            </option>
          ))}
        </select>
      </div>
      {kind === 'project' && (
        <input
          aria-label={texts.projectHint}
          placeholder={texts.projectHint}
          spellcheck={false}
          value={project}
          onInput={(event) => setProject(event.currentTarget.value)}
        />
      )}
      <div class="row">
        <Button icon="plus" disabled={kind === 'project' && project.trim() === ''} onClick={add}>
          {texts.addGrant}
        </Button>
        <span class="grow hint">{isChanged ? texts.unsaved : ''}</span>
        <Button
          kind="primary"
          disabled={!isChanged || busy}
          onClick={() => void save(() => onSave({ ...acl, grants }))}
        >
          {t.value.common.save}
        </Button>
      </div>
      <CommandLine command={commandOf({ ...acl, grants })} />
    </div>
  );
}

/** Returns the name of a grantee in the chosen language. */
export function granteeName(grantee: Grantee): string {
  switch (grantee.kind) {
    case 'everybody':
      return t.value.acl.everybody;
    case 'signed-in':
      return t.value.acl.signedIn;
    case 'other-group':
      return grantee.uri;
    case 'email':
      return grantee.email;
    case 'id':
      return grantee.name || grantee.id;
  }
}

function permissionName(permission: Permission, isBucket: boolean): string {
  const texts = t.value.acl;
  if (isBucket && permission === 'READ') return texts.bucketRead;
  if (isBucket && permission === 'WRITE') return texts.bucketWrite;
  return texts[permission];
}
