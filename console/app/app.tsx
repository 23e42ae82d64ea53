import { useEffect } from 'preact/hooks';
import { announceFailures } from './failures.ts';
import { Suspended } from './suspended.tsx';
import { Shell } from './shell.tsx';
import { keepTitle } from './title.ts';
import { t } from '../messages/messages.ts';
import { BucketsPage } from '../pages/buckets/buckets-page.tsx';
import { ObjectsPage } from '../pages/objects/objects-page.tsx';
import { PathPage } from '../pages/objects/path-page.tsx';
import { SignInPage } from '../pages/sign-in/sign-in-page.tsx';
import { TransfersPage } from '../pages/transfers/transfers-page.tsx';
import { forgetBuckets, loadBuckets, readFavourites } from '../session/known-buckets.ts';
import { route } from '../session/router.ts';
import { session } from '../session/session.ts';
import { stopAll } from '../transfers/queue.ts';
import { closeDialog, DialogHost } from '../ui/dialog.tsx';
import { closeMenu, MenuHost } from '../ui/menu.tsx';
import { Empty, NoticeHost } from '../ui/notices.tsx';

/** The console: the sign-in page, or the shell with a page in it. */
export function App() {
  const current = session.value;
  useEffect(announceFailures, []);
  useEffect(keepTitle, []);
  useEffect(() => {
    if (current !== undefined) {
      readFavourites();
      void loadBuckets();
      return;
    }
    // The next user must not see the data or the transfers of this one.
    stopAll();
    forgetBuckets();
    closeDialog();
    closeMenu();
  }, [current]);
  return (
    <>
      {current === undefined ? (
        <SignInPage />
      ) : (
        <Shell>
          <Page />
          <MenuHost />
        </Shell>
      )}
      <DialogHost />
      <NoticeHost />
    </>
  );
}

// Pages other than the first one are loaded when they are opened.
const loadSettings = async () => (await import('../pages/settings/settings-page.tsx')).SettingsPage;
const loadPeople = async () => (await import('../pages/people/people-page.tsx')).PeoplePage;
const loadProfile = async () => (await import('../pages/profile/profile-page.tsx')).ProfilePage;
const loadActivity = async () => (await import('../pages/activity/activity-page.tsx')).ActivityPage;

function Page() {
  const present = route.value;
  switch (present.page) {
    case 'buckets':
      return <BucketsPage />;
    case 'objects': {
      const { bucket, prefix } = present;
      if (prefix !== '' && !prefix.endsWith('/')) return <PathPage key={prefix} bucket={bucket} path={prefix} />;
      return <ObjectsPage key={bucket} {...present} />;
    }
    case 'settings':
      return <Suspended load={loadSettings} props={{ bucket: present.bucket, section: present.section }} />;
    case 'transfers':
      return <TransfersPage />;
    case 'activity':
      return <Suspended load={loadActivity} props={{}} />;
    case 'people':
      return <Suspended load={loadPeople} props={present.user === undefined ? {} : { user: present.user }} />;
    case 'profile':
      return <Suspended load={loadProfile} props={{}} />;
    case 'unknown':
      return (
        <>
          <h1 class="visually-hidden">{t.value.shell.notFound}</h1>
          <Empty title={t.value.shell.notFound} />
        </>
      );
  }
}
