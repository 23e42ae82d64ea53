import '../styles/console.css';
import '../styles/operators.css';
import { render } from 'preact';
import { OperatorsApp } from './operators-app.tsx';
import { followLinks } from './operator-routes.ts';
import { watchIdleness } from './operator-session.ts';
import { chooseLanguage, followLanguage } from '../messages/messages.ts';

async function begin(): Promise<void> {
  await chooseLanguage();
  followLinks();
  followLanguage();
  watchIdleness();
  const root = document.createElement('div');
  document.body.append(root);
  render(<OperatorsApp />, root);
}

begin().catch((error: unknown) => {
  document.body.textContent = `This page cannot start: ${error instanceof Error ? error.message : String(error)}`;
});
