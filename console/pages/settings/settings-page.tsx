import { AccessSection } from './access-section.tsx';
import { AlarmsSection } from './alarms-section.tsx';
import { CorsSection } from './cors-section.tsx';
import { EventsSection } from './events-section.tsx';
import { LifecycleSection } from './lifecycle-section.tsx';
import { LockSection } from './lock-section.tsx';
import { LogsSection } from './logs-section.tsx';
import { MonitoringSection } from './monitoring-section.tsx';
import { OverviewSection } from './overview-section.tsx';
import { WebsiteSection } from './website-section.tsx';
import { t } from '../../messages/messages.ts';
import { addressOf, go } from '../../session/router.ts';
import { Icon } from '../../ui/icons.tsx';
import { Tabs } from '../../ui/tabs.tsx';
import { visibleName } from '../../format/names.ts';

/** The sections of a bucket's settings, each in a separate file. */
const sections = {
  overview: OverviewSection,
  monitoring: MonitoringSection,
  alarms: AlarmsSection,
  access: AccessSection,
  lifecycle: LifecycleSection,
  lock: LockSection,
  website: WebsiteSection,
  cors: CorsSection,
  events: EventsSection,
  logs: LogsSection,
} as const;

type Section = keyof typeof sections;

/** The settings of a bucket. */
export function SettingsPage({ bucket, section }: { readonly bucket: string; readonly section: string }) {
  const current: Section = section in sections ? (section as Section) : 'overview';
  const Shown = sections[current];
  const texts = t.value.settings;
  return (
    <div class="page">
      <div class="page-head">
        <h1>{texts.title(visibleName(bucket))}</h1>
        <a class="button" href={addressOf({ page: 'objects', bucket, prefix: '' })}>
          <Icon name="folder" />
          {texts.toObjects}
        </a>
      </div>
      <Tabs
        label={texts.title(bucket)}
        current={current}
        tabs={(Object.keys(sections) as Section[]).map((key) => [key, texts[key]] as const)}
        onChange={(key) => go({ page: 'settings', bucket, section: key })}
      >
        <Shown key={bucket} bucket={bucket} />
      </Tabs>
    </div>
  );
}
