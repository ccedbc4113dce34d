package com.example.capacitor;

import com.getcapacitor.BridgeActivity;

public class MainActivity extends BridgeActivity {}
