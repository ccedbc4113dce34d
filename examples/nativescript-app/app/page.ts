/** Shows which version runs and what the SDK does. */
import { Frame, Label, Page, StackLayout, type View } from '@nativescript/core';
import { Launchway } from '@launchway/nativescript';
import { VERSION } from './version';

export function createPage(): View {
  const frame = new Frame();
  frame.navigate({ create: page });
  return frame;
}

function page(): Page {
  const list = new StackLayout();
  list.padding = 32;
  const show = (text: string) => {
    const label = new Label();
    label.text = text;
    label.textWrap = true;
    list.addChild(label);
  };
  show(VERSION);
  Launchway.addListener('updateAvailable', ({ update }) => show(`updateAvailable: ${update.version}`));
  Launchway.addListener('downloadComplete', ({ update }) => show(`downloadComplete: ${update.version}`));
  Launchway.addListener('nextSet', ({ update }) => show(`nextSet: ${update.version}`));
  Launchway.addListener('updateApplied', ({ update }) => show(`updateApplied: ${update?.version ?? 'the content of the binary'}`));
  Launchway.addListener('rolledBack', ({ update, reason }) => show(`rolledBack: ${update.version}, ${reason}`));
  Launchway.current()
    .then(({ embedded, version, buildNumber, trial }) => {
      const origin = embedded ? 'from the binary' : trial ? 'an update on trial' : 'an update';
      show(`Runs ${version} (${buildNumber}), ${origin}`);
    })
    .catch((error) => show(`${error.code}: ${error.message}`));
  const page = new Page();
  page.content = list;
  return page;
}
