import { useState } from 'react';
import { Button, SafeAreaView, Text } from 'react-native';

const version: string = '1.0.0';

export default function App() {
  const [taps, setTaps] = useState<number>(0);
  return (
    <SafeAreaView>
      <Text>React Native sample, version {version}</Text>
      <Button title={`Tapped ${taps} times`} onPress={() => setTaps(taps + 1)} />
    </SafeAreaView>
  );
}
