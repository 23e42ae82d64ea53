import './styles/console.css';
import { render } from 'preact';
import { App } from './app/app.tsx';
import { chooseLanguage, followLanguage } from './messages/messages.ts';
import { loadConfig } from './session/config.ts';
import { followLinks } from './session/router.ts';
import { config, resume, watchIdleness, watchTransfers } from './session/session.ts';
import { activeJobs } from './transfers/queue.ts';

async function begin(): Promise<void> {
  const [loaded] = await Promise.all([loadConfig(), chooseLanguage()]);
  config.value = loaded;
  await resume();
  followLinks();
  followLanguage();
  watchTransfers(() => activeJobs.value.length > 0);
  watchIdleness();
  addEventListener('beforeunload', (event) => {
    if (activeJobs.value.length > 0) event.preventDefault();
  });
  const root = document.createElement('div');
  document.body.append(root);
  render(<App />, root);
}

begin().catch((error: unknown) => {
  document.body.textContent = `The console cannot start: ${error instanceof Error ? error.message : String(error)}`;
});
