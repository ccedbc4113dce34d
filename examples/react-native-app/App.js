/** Shows which version runs and what the SDK does. */
import { useEffect, useState } from 'react';
import { ScrollView, Text } from 'react-native';
import { Launchway } from '@launchway/react-native';
import { VERSION } from './version';

const EVENTS = ['updateAvailable', 'downloadComplete', 'nextSet', 'updateApplied', 'appReady', 'rolledBack', 'updateFailed'];

export function App() {
  const [running, setRunning] = useState('');
  const [lines, setLines] = useState([]);

  useEffect(() => {
    const show = (line) => setLines((before) => [...before, line]);
    const handles = EVENTS.map((event) =>
      Launchway.addListener(event, ({ update, reason }) => {
        const name = update ? `${update.version} (${update.buildNumber})` : 'the content of the binary';
        show(reason ? `${event}: ${name}, ${reason}` : `${event}: ${name}`);
      }),
    );
    Launchway.current()
      .then(({ embedded, version, buildNumber, trial }) => {
        const origin = embedded ? 'from the binary' : trial ? 'an update on trial' : 'an update';
        setRunning(`Runs ${version} (${buildNumber}), ${origin}`);
      })
      .catch((error) => show(`${error.code}: ${error.message}`));
    return () => handles.forEach((handle) => handle.remove());
  }, []);

  return (
    <ScrollView contentContainerStyle={{ padding: 32, paddingTop: 80 }}>
      <Text style={{ fontSize: 40 }}>{VERSION}</Text>
      <Text>{running}</Text>
      {lines.map((line, index) => (
        <Text key={index}>{line}</Text>
      ))}
    </ScrollView>
  );
}
