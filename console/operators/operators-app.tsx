import { effect } from '@preact/signals';
import { useEffect } from 'preact/hooks';
import { AuditPage } from './audit-page.tsx';
import { CustomerPage } from './customer-page.tsx';
import { CustomersPage } from './customers-page.tsx';
import { route, type Route } from './operator-routes.ts';
import { may, session } from './operator-session.ts';
import { OperatorShell } from './operator-shell.tsx';
import { OperatorSignInPage } from './operator-sign-in-page.tsx';
import { OperatorProfilePage } from './operator-profile-page.tsx';
import { ProjectPage } from './project-page.tsx';
import { UsagePage } from './usage-page.tsx';
import { visibleName } from '../format/names.ts';
import { t } from '../messages/messages.ts';
import { texts } from '../messages/operators.ts';
import { closeDialog, DialogHost } from '../ui/dialog.tsx';
import { Empty, NoticeHost } from '../ui/notices.tsx';

/** The operators' page: the sign-in, or the shell with a view in it. */
export function OperatorsApp() {
  const current = session.value;
  useEffect(keepTitle, []);
  // The next operator must not see what this one was asked.
  useEffect(() => (current === undefined ? closeDialog() : undefined), [current]);
  return (
    <>
      {current === undefined ? (
        <OperatorSignInPage />
      ) : (
        <OperatorShell>
          <View />
        </OperatorShell>
      )}
      <DialogHost />
      <NoticeHost />
    </>
  );
}

/** What the token needs for a view. */
const needs = { customers: 'read', customer: 'read', project: 'read', audit: 'read', usage: 'bill' } as const;

function View() {
  const present = route.value;
  const scope = present.page in needs ? needs[present.page as keyof typeof needs] : undefined;
  if (scope !== undefined && !may(scope)) {
    const said = texts.value.lacks[scope];
    return (
      <>
        <h1 class="visually-hidden">{said}</h1>
        <Empty title={said} />
      </>
    );
  }
  switch (present.page) {
    case 'customers':
      return <CustomersPage />;
    case 'customer':
      return <CustomerPage key={present.customer} customer={present.customer} />;
    case 'project':
      return <ProjectPage key={present.project} project={present.project} />;
    case 'usage':
      return <UsagePage key={present.project} {...present} />;
    case 'audit':
      return <AuditPage />;
    case 'profile':
      return <OperatorProfilePage />;
    case 'unknown':
      return (
        <>
          <h1 class="visually-hidden">{t.value.shell.notFound}</h1>
          <Empty title={t.value.shell.notFound} />
        </>
      );
  }
}

/** Names the view in the browser's tab and history. Returns what ends this. */
const keepTitle = (): (() => void) =>
  effect(() => {
    const parts = session.value === undefined ? [texts.value.signInTitle] : namesOf(route.value);
    document.title = [...parts.map(visibleName), 'Stillage'].join(' · ');
  });

function namesOf(shown: Route): readonly string[] {
  switch (shown.page) {
    case 'customer':
      return [shown.customer, texts.value.customers];
    case 'project':
      return [shown.project, texts.value.customers];
    case 'usage':
      return shown.project === undefined ? [texts.value.usage] : [shown.project, texts.value.usage];
    case 'unknown':
      return [t.value.shell.notFound];
    default:
      return [texts.value[shown.page]];
  }
}
